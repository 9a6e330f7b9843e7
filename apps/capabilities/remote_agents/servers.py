"""Sends requests to the server of a remote agent, with credentials."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import urlencode, urlsplit

from apps import tracing
from apps.accounts.caller import Caller
from apps.capabilities.rest.authorizations import authorization_problem, authorize
from apps.capabilities.rest.exchanges import MOST_ERROR_BYTES, error_reason
from apps.capabilities.rest.requests import RequestDraft
from apps.capabilities.wrappers.redaction import credential_patterns, hide_credentials
from apps.capabilities.wrappers.value_texts import one_line
from apps.errors import EgressRefused, InitializationIssue, ToolError, ToolTimedOut
from apps.manifest.servers import host_and_port
from apps.manifest.toolsets.agents import AgentToolSet
from apps.manifest.toolsets.authorizations import (
    ApiKeyAuthorization,
    RestAuthorization,
    RestOAuthAuthorization,
    credentials_in,
)
from apps.workspace.egress.bodies import BodyUnreadable, ResponseBodyTooLarge, read_body
from apps.workspace.egress.clients import (
    CONNECT_SECONDS,
    HTTPError,
    InvalidURL,
    Response,
    TimeoutException,
    find_client,
)
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.headers import is_lasting, retry_after
from apps.workspace.egress.tls_failures import tls_problem
from apps.workspace.egress.urls import AddressInvalid, read_url
from apps.workspace.local.secrets.stored_secrets import SecretNeed
from apps.workspace.oauth.accounts import RequiredAccount

T = TypeVar("T")

MESSAGE_CHARACTERS = 500
CHECK_CREDENTIALS = "Check the credentials in `authorization` of the toolset."


class CredentialsRefused(ToolError):
    """Raised if the server rejects the credentials with status 401."""


class ConnectionLost(ToolError):
    """Raised if the server is unreachable or disconnects before its response is complete."""


@dataclass(frozen=True, slots=True)
class AgentServer:
    label: str
    url: str
    """The full URL from the manifest."""
    trust: Trust
    seconds: float
    """The idle timeout for a request, in seconds."""
    how: RestAuthorization | None = field(default=None, repr=False)

    @property
    def host(self) -> str:
        return host_and_port(self.url)

    @property
    def account(self) -> RequiredAccount | None:
        """Return the account with which each user signs in, or None if users do not sign in."""
        if not isinstance(self.how, RestOAuthAuthorization):
            return None
        return RequiredAccount(self.url, self.label, self.how)

    async def draft(self, caller: Caller, refused_token: str = "") -> tuple[RequestDraft, str]:
        """Return a request with credentials, and the renewable token that it contains ("" for
        none). Raises `ToolError` if credentials are unavailable.
        """
        draft = RequestDraft("POST")
        token = await authorize(draft, self.how, caller, self.url, refused_token)
        return draft, token

    async def with_credentials(
        self, caller: Caller, work: Callable[[RequestDraft], Awaitable[T]]
    ) -> T:
        """Call `work` with a request that has credentials. Raises `ToolError` if they are
        unavailable.

        If the server rejects the token, retry once with a new token.
        """
        draft, token = await self.draft(caller)
        try:
            return await work(draft)
        except CredentialsRefused:
            draft, renewed = await self.draft(caller, token) if token else (draft, "")
            if not renewed:
                raise
            return await work(draft)


def read_server(path: str, field: str, url: str, node: AgentToolSet, seconds: float) -> AgentServer:
    """Return the server of a toolset. `field` is the manifest field of the `url`. Raises
    `InitializationIssue` if the URL or the authorization is invalid.
    """
    try:
        address = read_url(url)
    except AddressInvalid as error:
        raise InitializationIssue(f"{path}.{field}: {error}") from error
    how = node.authorization
    if problem := authorization_problem(how):
        raise InitializationIssue(f"{path}.authorization: {problem}")
    if isinstance(how, ApiKeyAuthorization) and how.location == "body":
        raise InitializationIssue(
            f"{path}.authorization.location: the protocol does not support a key in the body. "
            "Use 'header' or 'query'."
        )
    for name in ("token_url", "authorization_url"):
        try:
            read_url(getattr(how, name, url))
        except AddressInvalid as error:
            raise InitializationIssue(f"{path}.authorization.{name}: {error}") from error
    full = address.parts._replace(fragment="").geturl()
    return AgentServer(node.label or path, full, address.trust, seconds, how)


def secret_needs(path: str, server: AgentServer) -> Iterator[SecretNeed]:
    token_url = getattr(server.how, "token_url", None)
    urls = (server.url, token_url) if token_url else (server.url,)
    for name, credential in credentials_in(server.how):
        yield SecretNeed(f"{path}.authorization.{name}", credential, urls)


@asynccontextmanager
async def send(
    server: AgentServer,
    name: str,
    draft: RequestDraft,
    url: str,
    *,
    method: str = "POST",
    content: bytes | None = None,
    explain: Callable[[bytes], str] = lambda body: "",
) -> AsyncIterator[Response]:
    """Send a request for the tool `name`, and yield the response before its body is read.

    `explain` extracts the reason from the body of an error response. Raises `ToolError` if the
    request fails, or if reading the body within the block fails.
    """
    if draft.query:
        url = f"{url}{'&' if urlsplit(url).query else '?'}{urlencode(draft.query)}"
    headers = {**tracing.headers(), **draft.headers}
    if content is not None:
        headers["content-type"] = "application/json"
    seconds = server.seconds
    with errors_for_model(server, name):
        async with find_client(server.trust).stream(
            method,
            url,
            headers=[(key.encode("ascii"), value.encode()) for key, value in headers.items()],
            content=content,
            timeout=(min(CONNECT_SECONDS, seconds), seconds, seconds, seconds),
        ) as response:
            if not response.is_success:
                raise await refusal(server, name, response, draft, explain)
            yield response


async def refusal(
    server: AgentServer,
    name: str,
    response: Response,
    draft: RequestDraft,
    explain: Callable[[bytes], str],
) -> ToolError:
    status = response.status_code
    try:
        reason = explain(await read_body(response, MOST_ERROR_BYTES))
    except (ResponseBodyTooLarge, BodyUnreadable):
        reason = ""
    reason = one_line(
        hide_credentials(reason, credential_patterns(draft.credentials)), MESSAGE_CHARACTERS
    )
    text = f"{called(server, name)}: the server returned {status_line(status)}"
    if response.has_redirect_location:
        text += " and redirects to another URL, which is not followed"
    text += f": {reason}" if reason else "."
    if status == HTTPStatus.UNAUTHORIZED:
        return CredentialsRefused(f"{text} {CHECK_CREDENTIALS}", is_lasting=True)
    return ToolError(text, is_lasting=is_lasting(status), retry_after=retry_after(response.headers))


def called(server: AgentServer, name: str) -> str:
    """Return the name of the tool and its server for error messages."""
    return f"{name} ({server.host})"


def status_line(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


@contextmanager
def errors_for_model(server: AgentServer, name: str) -> Iterator[None]:
    """Within the block, convert HTTP client errors to `ToolError` and `ToolTimedOut`."""
    try:
        yield
    except EgressRefused as error:
        raise ToolError(f"{name}: {error}", is_lasting=True) from error
    except TimeoutException as error:
        raise ToolTimedOut(called(server, name), server.seconds) from error
    except (ResponseBodyTooLarge, BodyUnreadable, InvalidURL) as error:
        raise ToolError(f"{called(server, name)}: {error_reason(error)}") from error
    except HTTPError as error:
        if tls_problem(error):
            text = f"{called(server, name)}: {error_reason(error)}"
            raise ToolError(text, is_lasting=True) from error
        raise ConnectionLost(f"{called(server, name)}: {error_reason(error)}") from error
