"""Sends requests to REST services, and converts errors to sentences for the model, without URLs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from urllib.parse import urljoin, urlsplit

from apps.capabilities.rest.operations import Operation
from apps.capabilities.rest.requests import RequestDraft
from apps.errors import EgressRefused, ToolError, ToolTimedOut
from apps.workspace.egress.bodies import BodyUnreadable, ResponseBodyTooLarge, read_body
from apps.workspace.egress.clients import (
    CONNECT_SECONDS,
    ConnectError,
    ConnectTimeout,
    HTTPError,
    InvalidURL,
    Response,
    TimeoutException,
    find_client,
)
from apps.workspace.egress.guard import unknown_host
from apps.workspace.egress.headers import retry_after
from apps.workspace.egress.tls_failures import tls_problem

MOST_REDIRECTS = 5
KEEPS_METHOD = frozenset({307, 308})
MOVES_TO_GET = frozenset({301, 302, 303})
MOST_ERROR_BYTES = 65_536
"""The stage does not show the body of an error response if it is larger than this many bytes."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    method: str
    url: str = field(repr=False)
    headers: list[tuple[bytes, bytes]] = field(repr=False)
    content: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class ServiceResponse:
    status: int
    content_type: str
    body: bytes = field(repr=False)
    location: str = field(default="", repr=False)
    """The full URL of a redirect, or ""."""
    retry_after: float | None = None
    """The `Retry-After` header in seconds."""

    @property
    def status_line(self) -> str:
        """Return the status with its standard phrase. The service's own phrase is untrusted."""
        try:
            return f"{self.status} {HTTPStatus(self.status).phrase}"
        except ValueError:
            return str(self.status)


async def exchange(operation: Operation, draft: RequestDraft) -> ServiceResponse:
    """Send the request, and follow redirects on the same origin. Raises `ToolError` or
    `ToolTimedOut` on failure.
    """
    request = HttpRequest(
        draft.method,
        operation.address.url(draft.path, draft.query),
        draft.header_pairs(),
        draft.content(),
    )
    with errors_for_model(operation):
        for _ in range(MOST_REDIRECTS):
            answer = await send(operation, request)
            if not answer.location or origin(answer.location) != origin(request.url):
                return answer
            request = redirect_request(request, answer)
    raise ToolError(f"{operation.name}: the service redirected too many times.")


async def send(operation: Operation, request: HttpRequest) -> ServiceResponse:
    seconds = operation.most_seconds
    async with find_client(operation.address.trust).stream(
        request.method,
        request.url,
        headers=request.headers,
        content=request.content,
        timeout=(min(CONNECT_SECONDS, seconds), seconds, seconds, seconds),
    ) as response:
        return ServiceResponse(
            response.status_code,
            response.headers.get("content-type", ""),
            await content_of(response, operation.most_bytes),
            redirect_target(response, request.url),
            retry_after(response.headers),
        )


async def content_of(response: Response, most: int) -> bytes:
    if response.is_success:
        return await read_body(response, most)
    try:
        return await read_body(response, min(most, MOST_ERROR_BYTES))
    except (ResponseBodyTooLarge, BodyUnreadable):
        return b""


def redirect_target(response: Response, url: str) -> str:
    location = str(response.headers.get("location", ""))
    if response.status_code not in KEEPS_METHOD | MOVES_TO_GET or not location:
        return ""
    try:
        return urljoin(url, location)
    except ValueError:
        return ""


def redirect_request(request: HttpRequest, answer: ServiceResponse) -> HttpRequest:
    if answer.status in KEEPS_METHOD or request.method == "GET":
        return replace(request, url=answer.location)
    headers = [pair for pair in request.headers if pair[0] != b"content-type"]
    return HttpRequest("GET", answer.location, headers, None)


def origin(url: str) -> tuple[str, str | None, int | None]:
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return "", None, None
    return parts.scheme, parts.hostname, port


@contextmanager
def errors_for_model(operation: Operation) -> Iterator[None]:
    """Within the block, convert HTTP client errors to `ToolError` and `ToolTimedOut`."""
    name = operation.name
    try:
        yield
    except EgressRefused as error:
        raise ToolError(f"{name}: {error}") from error
    except ConnectTimeout as error:
        raise ToolTimedOut(name, min(CONNECT_SECONDS, operation.most_seconds)) from error
    except TimeoutException as error:
        raise ToolTimedOut(name, operation.most_seconds) from error
    except (HTTPError, InvalidURL) as error:
        is_lasting = bool(tls_problem(error))
        raise ToolError(f"{name}: {error_reason(error)}", is_lasting=is_lasting) from error


def error_reason(error: Exception) -> str:
    match error:
        case ResponseBodyTooLarge():
            return (
                f"the response is too large; the limit is {error.limit} bytes. Request less data "
                "at once."
            )
        case BodyUnreadable():
            return str(error)
        case ConnectError():
            known = unknown_host(error) or tls_problem(error)
            return known or "the service could not be reached."
        case InvalidURL():
            return "the arguments do not form a valid URL."
        case _:
            return "the service disconnected before the end of its response."
