"""Implements the HTTP transport for an SDK with sessions. It sends each request within the limits
of the request's `RequestContext`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import httpx2

from apps.errors import EgressRefused, ToolError
from apps.workspace.egress.clients import CONNECT_SECONDS
from apps.workspace.egress.guard import Trust, unknown_host
from apps.workspace.egress.guarded_transports import Httpx2Transport
from apps.workspace.egress.headers import retry_after
from apps.workspace.egress.request_context import (
    CURRENT,
    LimitedBody,
    RequestContext,
    Rewrite,
    RewrittenMessages,
    Takes,
)
from apps.workspace.egress.sdk_clients import make_sdk_client
from apps.workspace.egress.tls_failures import tls_problem

LIMITS = httpx2.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=5.0)
"""The connection limits for each server and set of credentials."""
STREAM_FACTOR = 4
"""The maximum size of an event stream, as a multiple of the maximum size of one message."""
MOST_HEARD_BYTES = 1 << 62
CLOSE_SECONDS = 5.0
"""The timeout for ending a session on its server, in seconds."""


@dataclass(frozen=True, slots=True)
class RequestCredentials:
    """The headers and query parameters that authenticate a request. `token` is the renewable token
    in them, or "".
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    query: Mapping[str, str] = field(default_factory=dict, repr=False)
    token: str = field(default="", repr=False)

    def add_to(self, request: httpx2.Request) -> None:
        request.headers.update(self.headers)
        if self.query:
            request.url = request.url.copy_merge_params(self.query)


Authorize = Callable[[str], Awaitable[RequestCredentials]]
"""A function that returns credentials. Its argument is the token that was rejected, or "" for the
first request.
"""
Select = Callable[[bytes], Takes]
"""A function that takes the body of a request, and returns a filter for the messages that the SDK
reads from the event stream.
"""
Broken = Callable[[RequestContext], None]
"""A function that is called if a message could not be delivered. It is needed because the SDK does
not report these failures.
"""


class RequestContextTransport(httpx2.AsyncBaseTransport):
    """Sends an SDK's requests within the limits of their contexts.

    If `broken` is set, responses arrive over one listening GET request. Otherwise, each POST
    request has its own response.
    """

    def __init__(
        self,
        inner: httpx2.AsyncBaseTransport,
        authorize: Authorize,
        most_bytes: int,
        rewrite: Rewrite,
        select: Select,
        broken: Broken | None = None,
    ) -> None:
        self.inner = inner
        self.authorize = authorize
        self.most_bytes = most_bytes
        self.rewrite = rewrite
        self.select = select
        self.broken = broken

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. This method never raises; the context records a failure, and the SDK gets
        an error response.
        """
        context = CURRENT.get() or RequestContext()
        if request.method != "POST" and self.broken is None:
            # The SDK itself sends the listening request and the request that ends the session.
            context = context.fresh()
        if context.is_final:
            # The SDK would fall back to another request, which may fail for a different reason.
            return httpx2.Response(context.status, request=request)
        seconds = CLOSE_SECONDS if request.method == "DELETE" else context.seconds
        ends_at = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(ends_at):
                response = await self.send(request, context)
        except (EgressRefused, ToolError, httpx2.HTTPError, TimeoutError) as error:
            timed_out = isinstance(error, httpx2.TimeoutException | TimeoutError)
            context.fail(failure_text(error), timed_out=timed_out)
            self.report_broken(request, context)
            return httpx2.Response(HTTPStatus.BAD_GATEWAY, request=request)
        if request.method == "POST":
            context.first_status = context.first_status or response.status_code
        if response.is_error:
            challenge = response.headers.get("www-authenticate", "")
            context.refuse(response.status_code, challenge, retry_after(response.headers))
            self.report_broken(request, context)
        return await self.limited(request, response, context, ends_at)

    def report_broken(self, request: httpx2.Request, context: RequestContext) -> None:
        if self.broken is not None and request.method == "POST":
            self.broken(context)

    async def send(self, request: httpx2.Request, context: RequestContext) -> httpx2.Response:
        added = [name for name in context.headers if name.lower() not in request.headers]
        request.headers.update({name: context.headers[name] for name in added})
        request.extensions["timeout"] = limits(request.method, context)
        credentials = await self.authorize("")
        credentials.add_to(request)
        response = await self.inner.handle_async_request(request)
        if response.status_code != HTTPStatus.UNAUTHORIZED or not credentials.token:
            return response
        # The token may have been revoked before its expiry, so the request is retried once with
        # another token.
        await response.aclose()
        credentials = await self.authorize(credentials.token)
        credentials.add_to(request)
        return await self.inner.handle_async_request(request)

    async def limited(
        self,
        request: httpx2.Request,
        response: httpx2.Response,
        context: RequestContext,
        ends_at: float | None,
    ) -> httpx2.Response:
        """Return the response with a body that is limited in time and size.

        A listening GET has no limits: it lasts as long as the session, and its reader limits the
        size of events. A JSON list of messages becomes an event stream, because the SDK reads only
        one message from a JSON body.
        """
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        most = self.most_bytes * STREAM_FACTOR if is_stream else self.most_bytes
        if request.method == "GET" or context.listens:
            most, ends_at = MOST_HEARD_BYTES, None
        if context.is_limited_elsewhere:
            ends_at = None
        takes = self.select(sent_body(request))
        messages = RewrittenMessages(
            self.rewrite, self.most_bytes, is_stream=is_stream, takes=takes
        )
        body = LimitedBody(response, most, context, ends_at, messages)
        headers = response.headers
        if self.broken is None and is_json_answer(request, response) and await body.is_batch():
            messages.as_events = True
            headers = httpx2.Headers(headers)
            headers["Content-Type"] = "text/event-stream"
            headers.pop("Content-Length", None)
        return httpx2.Response(
            response.status_code,
            headers=headers,
            stream=body,
            extensions=response.extensions,
            request=request,
        )

    async def aclose(self) -> None:
        await self.inner.aclose()


def sent_body(request: httpx2.Request) -> bytes:
    """Return the body of a request, or b"" if the body is streamed."""
    try:
        return request.content
    except httpx2.RequestNotRead:
        return b""


def is_json_answer(request: httpx2.Request, response: httpx2.Response) -> bool:
    kind = response.headers.get("content-type", "").lower()
    return request.method == "POST" and response.is_success and kind.startswith("application/json")


def failure_text(error: Exception) -> str:
    match error:
        case EgressRefused() | ToolError():
            return str(error)
        case httpx2.ConnectTimeout():
            return "the connection timed out."
        case httpx2.TimeoutException() | TimeoutError():
            return "the server timed out."
        case httpx2.ConnectError():
            return unknown_host(error) or tls_problem(error) or "the server cannot be reached."
        case _:
            return "the server closed the connection."


def limits(method: str, context: RequestContext) -> dict[str, float | None]:
    # A GET listens for as long as the session lasts; a DELETE ends the session.
    if method == "DELETE":
        return dict.fromkeys(("connect", "read", "write", "pool"), CLOSE_SECONDS)
    seconds = context.seconds
    is_unlimited = method == "GET" or context.listens or context.is_limited_elsewhere
    read = None if is_unlimited else seconds
    connect = min(CONNECT_SECONDS, seconds)
    return {"connect": connect, "read": read, "write": seconds, "pool": seconds}


def make_session_client(
    trust: Trust,
    authorize: Authorize,
    most_bytes: int,
    rewrite: Rewrite,
    select: Select,
    broken: Broken | None = None,
) -> Any:
    """Return an httpx2 client for an SDK with sessions. The caller must close it. `rewrite`
    receives each message before the SDK reads it, and `select` receives the body of each request.
    """
    inner = Httpx2Transport(trust, LIMITS)
    return make_sdk_client(
        RequestContextTransport(inner, authorize, most_bytes, rewrite, select, broken),
        {"Accept-Encoding": "identity", "User-Agent": "QuickApps"},
    )
