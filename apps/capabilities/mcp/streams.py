"""From an endpoint to the two streams of messages that a session is made of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any

from mcp.client._transport import TransportStreams
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest

from apps.capabilities.mcp.echoes import Sent
from apps.capabilities.mcp.endpoints import Endpoint
from apps.capabilities.mcp.failures import ENDED, ConnectionFailed
from apps.capabilities.mcp.processes import Errors, process_streams
from apps.workspace.egress.errands import Broken, make_errand_client

MOST_MESSAGE_BYTES = 16 * 1024 * 1024
"""A file of the usual limit (10 MiB) in base64, and something around it."""
MOST_NOTICES = 2_000
NOTICE_SECONDS = 10.0
"""So many messages that nobody asked for, in so many seconds, are a flood."""

Ended = Callable[[ConnectionFailed], None]


@asynccontextmanager
async def open_streams(
    endpoint: Endpoint, errors: Errors, ended: Ended, broken: Broken, sent: Sent
) -> AsyncIterator[TransportStreams]:
    """Entered and left by the same task.

    `ended` is told when nothing more can arrive; `broken`, when a message could not be delivered
    and no answer to it will tell so. What is `sent` as a credential does not come back.
    """
    async with raw_streams(endpoint, errors, broken, sent) as (incoming, outgoing):
        yield WatchedStream(incoming, ended, sent), outgoing


@asynccontextmanager
async def raw_streams(
    endpoint: Endpoint, errors: Errors, broken: Broken, sent: Sent
) -> AsyncIterator[TransportStreams]:
    if endpoint.program is not None:
        async with process_streams(endpoint.program, errors, MOST_MESSAGE_BYTES) as streams:
            yield streams
        return

    is_sse = endpoint.protocol == "sse"
    client = make_errand_client(
        endpoint.trust, endpoint.authorizing(sent), MOST_MESSAGE_BYTES, broken if is_sse else None
    )

    def made(headers: Any = None, timeout: Any = None, auth: Any = None) -> Any:
        return client

    if is_sse:
        async with sse_client(endpoint.url, httpx_client_factory=made) as streams:
            yield streams
        return
    async with (
        client,
        streamable_http_client(
            endpoint.url, http_client=client, max_sse_event_size=MOST_MESSAGE_BYTES
        ) as streams,
    ):
        yield streams


class WatchedStream:
    """A stream of incoming messages whose end is told, and which a flood ends.

    The credentials that were `sent` are hidden in them.
    """

    def __init__(self, inner: Any, ended: Ended, sent: Sent) -> None:
        self.inner = inner
        self.ended = ended
        self.sent = sent
        self.notices = 0
        self.counted_since = 0.0

    @property
    def last_context(self) -> Any:
        """The context that the message was sent in, where the transport knows it."""
        return getattr(self.inner, "last_context", None)

    def __aiter__(self) -> WatchedStream:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            item: SessionMessage | Exception = await self.inner.__anext__()
        except StopAsyncIteration:
            self.ended(ConnectionFailed(ENDED))
            raise
        if self.is_flood(item):
            self.ended(ConnectionFailed("the server floods the connection with messages."))
            raise StopAsyncIteration
        return self.sent.hidden_in(item)

    async def receive(self) -> SessionMessage | Exception:
        item: SessionMessage | Exception = await self.inner.receive()
        return self.sent.hidden_in(item)

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

    async def aclose(self) -> None:
        await self.inner.aclose()

    async def __aenter__(self) -> WatchedStream:
        await self.inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        result: bool | None = await self.inner.__aexit__(kind, error, trace)
        return result
