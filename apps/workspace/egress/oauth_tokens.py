"""Fetches OAuth tokens with client credentials. All callers share a token, which is cached until it
expires.
"""

import asyncio
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import msgspec

from apps.errors import EgressRefused, ToolError
from apps.manifest.toolsets.authorizations import ClientIdSecretAuthorization
from apps.process_state import loop_object
from apps.workspace.egress.bodies import read_body
from apps.workspace.egress.clients import HTTPError, InvalidURL, TimeoutException, find_client
from apps.workspace.egress.headers import header_value_problem
from apps.workspace.egress.tls_failures import tls_problem
from apps.workspace.egress.urls import AddressInvalid, read_url
from apps.workspace.local.secrets.stored_secrets import reveal

MARGIN_SECONDS = 30.0
"""A token is renewed this many seconds before it expires, because a request takes time to reach the
service.
"""
DEFAULT_SECONDS = 300.0
"""The lifetime of a token in seconds if the service does not report one."""
MOST_CREDENTIALS = 1000
"""The maximum number of credentials whose tokens are cached. The least recently used tokens are
evicted.
"""
MOST_BYTES = 65_536
SECONDS = 30.0
"""The timeout for the whole token response in seconds. Calls that need the token wait up to this
long.
"""


@dataclass(frozen=True, slots=True)
class Token:
    value: str = field(repr=False)
    good_until: float
    """The value of `time.monotonic()` at which the token expires, minus `MARGIN_SECONDS`."""


class ClientTokens:
    """The current token for one set of client credentials. Concurrent callers wait for the same
    fetch.
    """

    def __init__(self, how: ClientIdSecretAuthorization) -> None:
        self.how = how
        self.lock = asyncio.Lock()
        self.token: Token | None = None
        self.version = 0
        """The version of the secret with which the token was fetched."""

    async def current(self, url: str, refused: str = "") -> str:
        """Return a valid token for this URL, other than the rejected token `refused`.

        The token is sent only to servers to which its secret may be sent. Raises `ToolError` if the
        secret cannot be used or no token can be fetched.
        """
        async with self.lock:
            secret = await reveal(self.how.client_secret, self.how.token_url, url)
            token = self.token if secret.version == self.version else None
            if token is None or token.value == refused or time.monotonic() >= token.good_until:
                token = self.token = await fetch_token(self.how, secret.text)
                self.version = secret.version
            return token.value


class TokenCache:
    """Caches the tokens for the credentials that this event loop used most recently."""

    def __init__(self) -> None:
        self.tokens: dict[ClientIdSecretAuthorization, ClientTokens] = {}

    def find(self, how: ClientIdSecretAuthorization) -> ClientTokens:
        found = self.tokens.pop(how, None) or ClientTokens(how)
        self.tokens[how] = found
        if len(self.tokens) > MOST_CREDENTIALS:
            del self.tokens[next(iter(self.tokens))]
        return found

    async def aclose(self) -> None:
        self.tokens.clear()


def find_tokens(how: ClientIdSecretAuthorization) -> ClientTokens:
    """Return the cached tokens for these credentials, from the running event loop's cache."""
    return loop_object(TokenCache, TokenCache).find(how)


async def fetch_token(how: ClientIdSecretAuthorization, secret: str) -> Token:
    """Fetch a token. Raises `ToolError` for any failure. The error message does not contain the
    service's response.
    """
    form = {"grant_type": "client_credentials", "scope": how.scope, "audience": how.aud}
    try:
        address = read_url(how.token_url)
        async with (
            asyncio.timeout(SECONDS),
            find_client(address.trust).stream(
                "POST",
                address.parts._replace(fragment="").geturl(),
                data={key: value for key, value in form.items() if value},
                auth=(how.client_id, secret),
                headers={"Accept": "application/json"},
            ) as response,
        ):
            if response.status_code != HTTPStatus.OK:
                raise ToolError(f"The token service returned status {response.status_code}.")
            return read_token(await read_body(response, MOST_BYTES))
    except (AddressInvalid, EgressRefused) as error:
        raise ToolError(f"The token service failed: {error}") from error
    except (TimeoutException, TimeoutError) as error:
        raise ToolError("The token service timed out.") from error
    except (HTTPError, InvalidURL) as error:
        problem = tls_problem(error)
        text = f"The token service could not be reached. {problem}".rstrip()
        raise ToolError(text, is_lasting=bool(problem)) from error


def read_token(body: bytes) -> Token:
    try:
        answer = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise ToolError("The token service did not return JSON.") from error
    value = answer.get("access_token") if isinstance(answer, dict) else None
    if not isinstance(value, str) or not value or header_value_problem(value):
        raise ToolError("The token service returned no usable `access_token`.")
    return Token(value, time.monotonic() + lifetime(answer.get("expires_in")) - MARGIN_SECONDS)


def lifetime(value: Any) -> float:
    # Some services send the lifetime as text.
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        return DEFAULT_SECONDS
    return seconds if seconds >= 0 else DEFAULT_SECONDS
