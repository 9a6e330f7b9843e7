"""HTTP under an SDK that keeps a session: limits and outcome of each request.

An SDK with a session sends requests in tasks of its own and reports little about their failures;
a request that cannot be sent may even end the session. So the caller sets a `RequestContext` in a
context variable, which the SDK's tasks inherit. A failure is noted there, and the SDK gets an
answer that fails that one request only.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import httpx2
from httpx2 import SSEError as SSEError

from apps.agent.surrogates import Mender
from apps.errors import EgressRefused, ToolError
from apps.workspace.egress.clients import CONNECT_SECONDS
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.guarded_transports import Httpx2Transport
from apps.workspace.egress.headers import retry_after
from apps.workspace.egress.sdk_clients import make_sdk_client

LIMITS = httpx2.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=5.0)
"""Per server and caller's credentials."""
STREAM_FACTOR = 4
"""An event stream may be this many times as large as one message."""
MOST_HEARD_BYTES = 1 << 62
CLOSE_SECONDS = 5.0
"""For ending a session at its server."""
REFUSAL_BYTES = 4_096
UNANSWERED = -1


@dataclass(slots=True)
class RequestContext:
    """The headers, the time limit and the outcome of one piece of work over HTTP.

    `status` is the HTTP status of a refusal, `retry_after` its seconds, `refusal` the part of its
    body that the SDK read; `failure` is a sentence about a failed connection. `first_status` is the
    status of the first POST and does not change: a refusal there means that nothing was done.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    seconds: float = 60.0
    status: int = 0
    retry_after: float | None = None
    failure: str = ""
    timed_out: bool = False
    first_status: int = 0
    refusal: bytes = field(default=b"", repr=False)

    def fresh(self) -> RequestContext:
        """A copy without an outcome."""
        return RequestContext(self.headers, self.seconds)

    def fail(self, text: str, *, timed_out: bool = False) -> None:
        self.status, self.failure, self.timed_out = 0, text, timed_out
        self.first_status = self.first_status or UNANSWERED

    @property
    def status_line(self) -> str:
        """The number and its standard phrase; the service's own words are not used."""
        try:
            return f"{self.status} {HTTPStatus(self.status).phrase}"
        except ValueError:
            return str(self.status)


CURRENT: ContextVar[RequestContext | None] = ContextVar("request_context", default=None)

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
        broken: Broken | None = None,
    ) -> None:
        self.inner = inner
        self.authorize = authorize
        self.most_bytes = most_bytes
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
        request.extensions["timeout"] = limits(request.method, context.seconds)
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
        body = LimitedBody(response, most, context, ends_at)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=body,
            extensions=response.extensions,
            request=request,
        )

    async def aclose(self) -> None:
        await self.inner.aclose()


class LimitedBody(httpx2.AsyncByteStream):
    """Raises `httpx2.StreamError`, which SDKs take as the failure of one request.

    `ends_at` is on the clock of the event loop, None for never. Halves of characters, which SDKs
    refuse, are mended.
    """

    def __init__(
        self, response: httpx2.Response, most: int, context: RequestContext, ends_at: float | None
    ) -> None:
        self.response = response
        self.most = most
        self.size = 0
        self.context = context
        self.ends_at = ends_at

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self.response.headers.get("content-encoding", "identity").lower() != "identity":
            raise self.stream_error("the server sent a packed answer that was not asked for.")
        mender = Mender()
        pieces = aiter(self.response.stream)  # type: ignore[arg-type]
        try:
            while True:
                async with asyncio.timeout_at(self.ends_at):
                    piece = await anext(pieces, None)
                if piece is None:
                    break
                self.count(piece)
                yield mender.feed(piece)
            if rest := mender.end():
                yield rest
        except (httpx2.TimeoutException, TimeoutError) as error:
            raise self.stream_error(
                "the server did not finish its answer in time.", timed_out=True
            ) from error
        except httpx2.HTTPError as error:
            raise self.stream_error("the server broke off its answer.") from error

    def count(self, piece: bytes) -> None:
        """Raises `httpx2.StreamError` for a body that is too large."""
        self.size += len(piece)
        if self.response.is_error:
            self.context.refusal += piece[: REFUSAL_BYTES - len(self.context.refusal)]
        if self.size > self.most:
            raise self.stream_error(
                f"the server's answer is larger than {self.most:,} bytes. Ask for less at once."
            )

    def stream_error(self, text: str, *, timed_out: bool = False) -> httpx2.StreamError:
        self.context.fail(text, timed_out=timed_out)
        return httpx2.StreamError(text)

    async def aclose(self) -> None:
        await self.response.aclose()


def failure_text(error: Exception) -> str:
    match error:
        case EgressRefused() | ToolError():
            return str(error)
        case httpx2.ConnectTimeout():
            return "no connection could be made in time."
        case httpx2.TimeoutException() | TimeoutError():
            return "the server did not answer in time."
        case httpx2.ConnectError():
            return "the server cannot be reached."
        case _:
            return "the server broke off the connection."


def limits(method: str, seconds: float) -> dict[str, float | None]:
    # A GET listens as long as the session lasts; a DELETE ends the session.
    if method == "DELETE":
        return dict.fromkeys(("connect", "read", "write", "pool"), CLOSE_SECONDS)
    read = None if method == "GET" else seconds
    connect = min(CONNECT_SECONDS, seconds)
    return {"connect": connect, "read": read, "write": seconds, "pool": seconds}


def make_session_client(
    trust: Trust, authorize: Authorize, most_bytes: int, broken: Broken | None = None
) -> Any:
    """An httpx2 client for an SDK with sessions; the caller closes it."""
    inner = Httpx2Transport(trust, LIMITS)
    return make_sdk_client(
        RequestContextTransport(inner, authorize, most_bytes, broken),
        {"Accept-Encoding": "identity", "User-Agent": "QuickApps"},
    )
