"""From an endpoint to the two streams of messages that a session is made of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any, Protocol, Self

from anyio import EndOfStream
from anyio.abc import ObjectReceiveStream
from mcp.client import Transport
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest

from apps.capabilities.mcp.bare_messages import with_objects
from apps.capabilities.mcp.connection_failures import ENDED, ConnectionFailed
from apps.capabilities.mcp.endpoints import Endpoint
from apps.capabilities.mcp.lenient_results import LenientResults
from apps.capabilities.mcp.processes import StderrTail, process_streams
from apps.capabilities.mcp.redaction import SentCredentials
from apps.capabilities.mcp.result_bounds import bounded
from apps.workspace.egress.session_transport import Broken, make_session_client

MOST_MESSAGE_BYTES = 16 * 1024 * 1024
"""A file of the usual limit (10 MiB) in base64, and something around it."""
MOST_NOTICES = 2_000
NOTICE_SECONDS = 10.0
"""So many messages that nobody asked for, in so many seconds, are a flood."""

Ended = Callable[[ConnectionFailed], None]


class Receiving(Protocol):
    async def receive(self) -> SessionMessage | Exception: ...
    async def aclose(self) -> None: ...


class Sending(Protocol):
    """As a session of the SDK wants it."""

    async def send(self, item: SessionMessage, /) -> None: ...
    async def aclose(self) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None: ...


@asynccontextmanager
async def open_streams(
    endpoint: Endpoint, errors: StderrTail, ended: Ended, broken: Broken, sent: SentCredentials
) -> AsyncIterator[tuple[WatchedStream, Sending]]:
    """Has to be entered and left by the same task.

    `ended` is called when nothing more can arrive; `broken` when a message could not be delivered
    and will get no answer. Credentials in `sent` are hidden in what comes back.
    """
    async with AsyncExitStack() as stack:
        incoming, outgoing = await stack.enter_async_context(
            await transport(endpoint, errors, broken, sent, stack)
        )
        yield WatchedStream(incoming, ended, sent), outgoing


async def transport(
    endpoint: Endpoint,
    errors: StderrTail,
    broken: Broken,
    sent: SentCredentials,
    stack: AsyncExitStack,
) -> Transport:
    if endpoint.program is not None:
        return process_streams(endpoint.program, errors, MOST_MESSAGE_BYTES)
    is_sse = endpoint.protocol == "sse"
    authorize = endpoint.authorizing(sent)
    client = make_session_client(
        endpoint.trust, authorize, MOST_MESSAGE_BYTES, with_objects, broken if is_sse else None
    )
    if is_sse:
        return sse_client(endpoint.url, httpx_client_factory=lambda *_, **__: client)
    await stack.enter_async_context(client)
    return streamable_http_client(
        endpoint.url, http_client=client, max_sse_event_size=MOST_MESSAGE_BYTES
    )


class WatchedStream(ObjectReceiveStream[SessionMessage | Exception]):
    """Tells the end of incoming messages, ends a flood, bounds what an answer has, hides the
    credentials that were `sent`, and makes results readable for the SDK.
    """

    def __init__(self, inner: Receiving, ended: Ended, sent: SentCredentials) -> None:
        self.inner = inner
        self.ended = ended
        self.sent = sent
        self.results = LenientResults()
        self.notices = 0
        self.counted_since = 0.0

    @property
    def last_context(self) -> Any:
        """The context in which the message was sent, if the transport knows it."""
        return getattr(self.inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        try:
            item = await self.inner.receive()
        except EndOfStream:
            self.ended(ConnectionFailed(ENDED))
            raise
        if self.is_flood(item):
            self.ended(ConnectionFailed("the server floods the connection with messages."))
            raise EndOfStream
        return self.results.read(self.sent.redacted(bounded(item)))

    async def aclose(self) -> None:
        await self.inner.aclose()

    def is_flood(self, item: SessionMessage | Exception) -> bool:
        asked = isinstance(item, SessionMessage) and not isinstance(
            item.message, JSONRPCNotification | JSONRPCRequest
        )
        if asked:
            return False
        now = asyncio.get_running_loop().time()
        if now - self.counted_since > NOTICE_SECONDS:
            self.notices, self.counted_since = 0, now
        self.notices += 1
        return self.notices > MOST_NOTICES
