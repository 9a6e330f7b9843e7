"""The transport under an SDK that keeps a session: it sends requests under the rules of their context."""

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

import httpx2

from apps.errors import EgressRefused, ToolError
from apps.workspace.egress.clients import CONNECT_SECONDS
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.guarded_transports import Httpx2Transport
from apps.workspace.egress.headers import retry_after
from apps.workspace.egress.request_context import (
    CURRENT,
    LimitedBody,
    Messages,
    RequestContext,
    Rewrite,
)
from apps.workspace.egress.sdk_clients import make_sdk_client
from apps.workspace.egress.unknown_hosts import unknown_host

LIMITS = httpx2.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=5.0)
"""Per server and caller's credentials."""
STREAM_FACTOR = 4
"""An event stream may be this many times as large as one message."""
MOST_HEARD_BYTES = 1 << 62
CLOSE_SECONDS = 5.0
"""For ending a session at its server."""
Authorize = Callable[[str], Awaitable[tuple[dict[str, str], str]]]
"""Refused token ("" at first) → headers, and their token if another one can be fetched."""
Broken = Callable[[RequestContext], None]
"""Called for a message that was not delivered, which the SDK does not report."""


class RequestContextTransport(httpx2.AsyncBaseTransport):
    """Sends an SDK's requests under the rules of their context.

    With `broken`, answers come over one listening GET; without, each POST has its own.
    """

    def __init__(
        self,
        inner: httpx2.AsyncBaseTransport,
        authorize: Authorize,
        most_bytes: int,
        rewrite: Rewrite,
        broken: Broken | None = None,
    ) -> None:
        self.inner = inner
        self.authorize = authorize
        self.most_bytes = most_bytes
        self.rewrite = rewrite
        self.broken = broken

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Never raises for a failed request; the context has the failure."""
        context = CURRENT.get() or RequestContext()
        if request.method != "POST" and self.broken is None:
            context = context.fresh()  # the SDK listens or says goodbye by itself
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
            context.status = response.status_code
            context.retry_after = retry_after(response.headers)
            self.report_broken(request, context)
        return self.limited(request, response, context, ends_at)

    def report_broken(self, request: httpx2.Request, context: RequestContext) -> None:
        if self.broken is not None and request.method == "POST":
            self.broken(context)

    async def send(self, request: httpx2.Request, context: RequestContext) -> httpx2.Response:
        given = [name for name in context.headers if name.lower() not in request.headers]
        request.headers.update({name: context.headers[name] for name in given})
        request.extensions["timeout"] = limits(request.method, context)
        headers, token = await self.authorize("")
        request.headers.update(headers)
        response = await self.inner.handle_async_request(request)
        if response.status_code != HTTPStatus.UNAUTHORIZED or not token:
            return response
        # The token may have been withdrawn early: ask once more with another one.
        await response.aclose()
        headers, _ = await self.authorize(token)
        request.headers.update(headers)
        return await self.inner.handle_async_request(request)

    def limited(
        self,
        request: httpx2.Request,
        response: httpx2.Response,
        context: RequestContext,
        ends_at: float | None,
    ) -> httpx2.Response:
        """The answer with a body that is limited in time and size.

        A listening GET has no limits: it lasts as long as the session, and its reader limits events.
        """
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        most = self.most_bytes * STREAM_FACTOR if is_stream else self.most_bytes
        if request.method == "GET":
            most, ends_at = MOST_HEARD_BYTES, None
        if context.is_limited_elsewhere:
            ends_at = None
        messages = Messages(self.rewrite, self.most_bytes, is_stream=is_stream)
        body = LimitedBody(response, most, context, ends_at, messages)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=body,
            extensions=response.extensions,
            request=request,
        )

    async def aclose(self) -> None:
        await self.inner.aclose()


def failure_text(error: Exception) -> str:
    match error:
        case EgressRefused() | ToolError():
            return str(error)
        case httpx2.ConnectTimeout():
            return "no connection could be made in time."
        case httpx2.TimeoutException() | TimeoutError():
            return "the server did not answer in time."
        case httpx2.ConnectError():
            return unknown_host(error) or "the server cannot be reached."
        case _:
            return "the server broke off the connection."


def limits(method: str, context: RequestContext) -> dict[str, float | None]:
    # A GET listens as long as the session lasts; a DELETE ends the session.
    if method == "DELETE":
        return dict.fromkeys(("connect", "read", "write", "pool"), CLOSE_SECONDS)
    seconds = context.seconds
    read = None if method == "GET" or context.is_limited_elsewhere else seconds
    connect = min(CONNECT_SECONDS, seconds)
    return {"connect": connect, "read": read, "write": seconds, "pool": seconds}


def make_session_client(
    trust: Trust,
    authorize: Authorize,
    most_bytes: int,
    rewrite: Rewrite,
    broken: Broken | None = None,
) -> Any:
    """An httpx2 client for an SDK with sessions; the caller closes it. `rewrite` is given each
    message before the SDK reads it.
    """
    inner = Httpx2Transport(trust, LIMITS)
    return make_sdk_client(
        RequestContextTransport(inner, authorize, most_bytes, rewrite, broken),
        {"Accept-Encoding": "identity", "User-Agent": "QuickApps"},
    )
