"""Opens the message streams of a session, and filters incoming messages."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from types import TracebackType
from typing import Any, Protocol, Self

import msgspec
from anyio import EndOfStream
from anyio.abc import ObjectReceiveStream
from mcp.client import Transport
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest, jsonrpc_message_adapter
from pydantic import ValidationError

from apps.capabilities.mcp.messages.bare import Envelope, is_answer, messages_in
from apps.capabilities.mcp.messages.lenient_results import LenientResults
from apps.capabilities.mcp.messages.redaction import SentCredentials
from apps.capabilities.mcp.messages.result_bounds import bound_message
from apps.capabilities.mcp.sessions.endpoints import ServerEndpoint
from apps.capabilities.mcp.sessions.failures import ENDED, ConnectionFailed
from apps.capabilities.mcp.sessions.processes import StderrTail, process_streams
from apps.workspace.egress.session_transport import Broken, make_session_client

MOST_MESSAGE_BYTES = 16 * 1024 * 1024
"""The maximum size of a message in bytes. A file of 10 MiB, the default limit, fits as base64."""
MOST_NOTICES = 2_000
NOTICE_SECONDS = 10.0
"""Unsolicited messages are counted in periods of this many seconds."""

Ended = Callable[[ConnectionFailed], None]
logger = logging.getLogger(__name__)
NO_ID = (b"", b"null")
"""The IDs in error responses from a server that could not read the request's ID."""


class Receiving(Protocol):
    async def receive(self) -> SessionMessage | Exception: ...
    async def aclose(self) -> None: ...


class Sending(Protocol):
    """The sending end of a stream, as the SDK expects it."""

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
    endpoint: ServerEndpoint,
    errors: StderrTail,
    ended: Ended,
    broken: Broken,
    sent: SentCredentials,
) -> AsyncIterator[tuple[WatchedStream, Sending]]:
    """Open the streams. The same task must enter and leave this context manager.

    `ended` is called when no more messages can arrive, and `broken` when a message was not
    delivered. Credentials in `sent` are redacted in received messages.
    """
    async with AsyncExitStack() as stack:
        incoming, outgoing = await stack.enter_async_context(
            await transport(endpoint, errors, broken, sent, stack)
        )
        yield WatchedStream(incoming, ended, sent), outgoing


async def transport(
    endpoint: ServerEndpoint,
    errors: StderrTail,
    broken: Broken,
    sent: SentCredentials,
    stack: AsyncExitStack,
) -> Transport:
    if endpoint.program is not None:
        return process_streams(endpoint.program, errors, MOST_MESSAGE_BYTES)
    is_sse = endpoint.protocol == "sse"
    authorize = endpoint.authorizing(sent)
    selection = MessageSelection(endpoint.title)
    client = make_session_client(
        endpoint.trust,
        authorize,
        MOST_MESSAGE_BYTES,
        messages_in,
        selection.of,
        broken if is_sse else None,
    )
    if is_sse:
        return sse_client(endpoint.url, httpx_client_factory=lambda *_, **__: client)
    await stack.enter_async_context(client)
    return streamable_http_client(
        endpoint.url, http_client=client, max_sse_event_size=MOST_MESSAGE_BYTES
    )


class WatchedStream(ObjectReceiveStream[SessionMessage | Exception]):
    """The stream of incoming messages.

    It reports the end of the stream, ends the session if there are too many messages, limits and
    repairs results, and redacts the credentials in `sent`.
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
        """Return the context in which the newest message was sent, or None if the transport has
        none.
        """
        return getattr(self.inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        try:
            item = await self.inner.receive()
        except EndOfStream:
            self.ended(ConnectionFailed(ENDED))
            raise
        if self.is_flood(item):
            self.ended(ConnectionFailed("the server sent too many messages."))
            raise EndOfStream
        return self.results.read(self.sent.redacted(bound_message(item)))

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


class MessageSelection:
    """Selects the messages of one session that the SDK should read, and logs the first skipped
    message. `title` is the server's name.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.has_logged = False

    def of(self, request: bytes) -> Callable[[bytes], bool]:
        """Return a filter for the messages on this request's stream."""
        return partial(self.takes, id_of(request))

    def takes(self, asked: bytes, message: bytes) -> bool:
        """Return True if the SDK should read the message. `asked` is the ID of the stream's
        request, or b"".
        """
        if is_answer(message):
            if not asked or (found := id_of(message)) in (*NO_ID, asked):
                return True
            self.log(f"a response to another request ({found[:40]!r} instead of {asked!r})")
            return False
        try:
            jsonrpc_message_adapter.validate_json(message, by_name=False)
        except (ValidationError, RecursionError):
            self.log("a message that is not JSON-RPC")
            return False
        return True

    def log(self, what: str) -> None:
        if not self.has_logged:
            self.has_logged = True
            logger.warning("The MCP server %s sent %s; skipped it.", self.title, what)


def id_of(message: bytes) -> bytes:
    """Return the ID of a message without quotes, or b"" if it has none."""
    try:
        written = msgspec.json.decode(message, type=Envelope).id
    except msgspec.DecodeError:
        return b""
    return b"" if written is msgspec.UNSET else bytes(written).strip(b'" \t\r\n')
