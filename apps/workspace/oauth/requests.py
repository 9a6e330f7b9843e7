"""Sends requests to sign-in services, and checks the URLs that tool servers provide."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import msgspec
from django.conf import settings
from django.utils.translation import gettext

from apps.errors import EgressRefused, ToolError
from apps.workspace.egress.bodies import read_body
from apps.workspace.egress.clients import HTTPError, InvalidURL, TimeoutException, find_client
from apps.workspace.egress.guard import Trust, is_allowed
from apps.workspace.egress.urls import AddressInvalid, read_url

MOST_BYTES = 65_536
SECONDS = 20.0
"""The timeout in seconds for a request and its whole response."""


class SignInFailed(ToolError):
    """Raised if a sign-in fails. The message is for users and models, and contains no secrets."""


@dataclass(frozen=True, slots=True)
class JsonResponse:
    """A response. `document` is the JSON object in its body, or {} if the body is anything else."""

    status: int
    document: dict[str, Any] = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)

    @property
    def is_success(self) -> bool:
        return self.status in {HTTPStatus.OK, HTTPStatus.CREATED}

    @property
    def error(self) -> str:
        """Return the code of the OAuth error in the response, or "" if there is none."""
        code = self.document.get("error")
        return code[:100] if isinstance(code, str) else ""


def trust_of(url: str, server: str, *, is_configured: bool) -> Trust:
    """Return the trust level of a sign-in service's URL. `is_configured` is True if the operator
    provided the URL, and False if `server` did.

    A server may provide private URLs only if the operator allows the server itself to be on a
    private network. Raises `SignInFailed` for a URL without TLS, unless the operator allows its
    host.
    """
    try:
        address = read_url(url)
    except AddressInvalid as error:
        raise SignInFailed(
            gettext("The sign-in service can’t be used: {error}").format(error=error)
        ) from error
    if is_configured and address.is_site:
        return Trust.SITE
    allowed = settings.PRIVATE_NETWORK_ALLOWLIST
    is_private = is_allowed(address.parts.hostname or "", allowed)
    may_be_private = is_configured or is_allowed(read_url(server).parts.hostname or "", allowed)
    if address.is_site or (address.parts.scheme != "https" and not (is_private and may_be_private)):
        raise SignInFailed(
            gettext("The sign-in service’s URL doesn’t use HTTPS, so the service can’t be used.")
        )
    return Trust.OPERATOR if may_be_private else Trust.GUARDED


async def fetch_json(
    trust: Trust, method: str, url: str, *, reads_body: bool = True, **options: Any
) -> JsonResponse:
    """Send one request without following redirects. Raises `SignInFailed` if the request fails."""
    options["headers"] = {"Accept": "application/json", **options.get("headers", {})}
    try:
        async with (
            asyncio.timeout(SECONDS),
            find_client(trust).stream(method, url, **options) as response,
        ):
            body = await read_body(response, MOST_BYTES) if reads_body else b""
            return JsonResponse(response.status_code, json_object(body), response.headers)
    except EgressRefused as error:
        raise SignInFailed(
            gettext("The sign-in service can’t be used: {error}").format(error=error)
        ) from error
    except (TimeoutException, TimeoutError) as error:
        raise SignInFailed(gettext("The sign-in service timed out.")) from error
    except (HTTPError, InvalidURL) as error:
        raise SignInFailed(gettext("The sign-in service is unreachable.")) from error


def json_object(body: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
