"""Implements HTTP/1.1 connections for streamed responses, as an asyncio protocol around a C parser.

A connection forwards the data of each network read at once, because wake-ups between the
socket and its reader account for most of the cost of a streamed token.
"""

import asyncio
import math
import select
from dataclasses import dataclass, field
from typing import cast

import httptools
import httpx2

MOST_HEADER_BYTES = 64 * 1024
"""The limit in bytes for the headers, for the trailers, and for the data between two chunks of a
body.
"""
MOST_HEADERS = 256
"""The maximum number of headers and trailers per response, including those of interim responses."""
MOST_BUFFERED_BYTES = 256 * 1024
"""The number of buffered bytes above which reading pauses, so that a slow consumer slows down the
service instead of filling memory.
"""


class ConnectionBroken(httpx2.RemoteProtocolError):
    """Raised if the connection failed, or if the received bytes are not a valid HTTP response."""


class ConnectionSilent(httpx2.ReadTimeout):
    """Raised if reading, writing or the whole exchange times out."""


@dataclass(slots=True)
class Head:
    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)


class HttpConnection(asyncio.Protocol):
    """A connection that sends one request at a time. Call `send`, then `read_head`, then
    `read_chunk` until it returns b"".
    """

    __slots__ = (
        *("buffered", "ends_at", "failure", "has_head", "head", "header_bytes", "headers"),
        *("received_at", "idle_seconds", "is_complete", "is_discarding", "is_framed", "is_paused"),
        *("is_write_blocked", "keeps_alive", "loop", "poll", "parser", "chunks", "timer"),
        *("total_seconds", "transport", "waiter"),
    )

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.transport: asyncio.Transport | None = None
        self.parser = httptools.HttpResponseParser(self)
        self.head = Head()
        self.chunks: list[bytes] = []
        self.buffered = 0
        self.header_bytes = 0
        self.headers = 0
        self.has_head = False
        self.is_complete = True
        self.is_framed = False
        self.keeps_alive = True
        self.is_paused = False
        self.is_discarding = False
        self.is_write_blocked = False
        self.failure: httpx2.TransportError | None = None
        self.waiter: asyncio.Future[None] | None = None
        self.idle_seconds = 0.0
        self.received_at = 0.0
        self.total_seconds = self.ends_at = math.inf
        self.timer: asyncio.TimerHandle | None = None
        self.poll = select.poll()

    # --- One exchange ---------------------------------------------------------------------

    async def send(
        self, data: bytes, *, idle_seconds: float, write_seconds: float, total_seconds: float
    ) -> None:
        """Begin an exchange by sending a request. The exchange may last up to `total_seconds`.

        `idle_seconds` is the timeout for all headers, and then for each read of the body. Raises
        `ConnectionBroken` if the connection closes, and `ConnectionSilent` after a timeout.
        """
        self.head = Head()
        self.has_head = self.is_complete = self.is_framed = False
        self.header_bytes = self.headers = 0
        self.end_within(total_seconds)
        if self.transport is None or self.transport.is_closing():
            raise self.failure or closed_error()
        self.transport.write(data)
        if self.is_write_blocked:
            self.idle_seconds = write_seconds
            self.start_timer()
        while self.is_write_blocked and not self.has_head:
            await self.wait()
        self.idle_seconds = idle_seconds
        self.start_timer()

    async def read_head(self) -> Head:
        """Return the status and headers of the response, skipping interim responses (1xx). Raises
        the same errors as `send`.
        """
        while not self.has_head:
            await self.wait()
        return self.head

    async def read_chunk(self) -> bytes:
        """Return the bytes of the body that have arrived since the last call. If there are none,
        wait for the next bytes. Return b"" at the end of the body. Raises the same errors as
        `send`.
        """
        while not self.chunks:
            if self.is_complete:
                return b""
            await self.wait()
        chunks, self.chunks = self.chunks, []
        chunk = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        self.buffered = 0
        if self.is_paused and self.transport is not None:
            self.is_paused = False
            self.transport.resume_reading()
        return chunk

    def end_within(self, seconds: float) -> None:
        """Limit the remaining time of the exchange to `seconds` from now."""
        self.total_seconds = seconds
        self.ends_at = self.loop.time() + seconds
        if self.timer is not None:
            self.start_timer()

    async def finish(self, most: int, seconds: float) -> None:
        """Read and discard the rest of the body, up to `most` bytes and for up to `seconds`."""
        self.is_discarding = True
        try:
            async with asyncio.timeout(seconds):
                while not self.is_complete and self.buffered <= most:
                    await self.wait()
        except (TimeoutError, ConnectionBroken, ConnectionSilent):
            pass
        finally:
            self.is_discarding = False

    def is_reusable(self) -> bool:
        return (
            self.is_complete
            and self.transport is not None
            and not self.transport.is_closing()
            and not self.is_write_blocked
            and self.keeps_alive
        )

    def is_stale(self) -> bool:
        """Return True if an idle connection can no longer be used: it is closed, or has unexpected
        data to read.
        """
        # The socket is polled, because the event loop may not have noticed the data yet.
        return self.transport is None or bool(self.poll.poll(0))

    def reset(self) -> None:
        """Reset the state after an exchange, so that the connection can send another request."""
        self.chunks.clear()
        self.buffered = 0
        self.stop_timer()

    def close(self) -> None:
        """Abort the connection at once."""
        self.stop_timer()
        if self.transport is not None:
            self.transport.abort()
            self.transport = None

    # --- Waiting --------------------------------------------------------------------------

    def wait(self) -> asyncio.Future[None]:
        """Return a future that the next `wake` completes. Raises the same errors as `send`."""
        if self.failure is not None or self.transport is None:
            raise self.failure or closed_error()
        self.waiter = self.loop.create_future()
        if self.has_head:
            self.received_at = self.loop.time()
        return self.waiter

    def wake(self) -> None:
        waiter, self.waiter = self.waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def start_timer(self) -> None:
        self.stop_timer()
        self.received_at = now = self.loop.time()
        self.timer = self.loop.call_later(min(self.idle_seconds, self.ends_at - now), self.on_timer)

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def on_timer(self) -> None:
        """End the exchange with an error if no data arrived in time or the exchange takes too long.
        Otherwise, restart the timer.
        """
        now = self.loop.time()
        waits = self.waiter is not None
        left = self.received_at + self.idle_seconds - now if waits else self.idle_seconds
        if left <= 0:
            what = "Nothing" if self.has_head else "No headers"
            self.fail(ConnectionSilent(f"{what} for {self.idle_seconds:g} seconds."))
        elif now >= self.ends_at:
            self.fail(
                ConnectionSilent(f"The response did not end within {self.total_seconds:g} seconds.")
            )
        else:
            self.timer = self.loop.call_later(min(left, self.ends_at - now), self.on_timer)

    # --- asyncio.Protocol -----------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.poll.register(self.transport.get_extra_info("socket").fileno(), select.POLLIN)

    def data_received(self, data: bytes) -> None:
        if self.is_complete:
            self.fail(ConnectionBroken("The service sent an unrequested response."))
            return
        before = self.buffered
        try:
            self.parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self.fail(ConnectionBroken(f"The response is not HTTP ({type(error).__name__})."))
            return
        self.header_bytes = self.header_bytes + len(data) if self.buffered == before else 0
        if self.header_bytes > MOST_HEADER_BYTES or self.headers > MOST_HEADERS:
            self.fail(ConnectionBroken("The headers or trailers of the response are too large."))
            return
        self.wake()
        if self.buffered > MOST_BUFFERED_BYTES:
            self.pause_reading()

    def pause_reading(self) -> None:
        if self.transport is not None and not self.is_paused and not self.is_discarding:
            self.is_paused = True
            self.transport.pause_reading()

    def eof_received(self) -> bool:
        is_end = self.failure is None and not self.is_framed
        if is_end and self.has_head and not self.is_complete:
            self.is_complete = True  # The end of the connection ends the body.
            self.wake()
        return False

    def connection_lost(self, error: Exception | None) -> None:
        self.transport = None
        if error is None:
            self.eof_received()
        self.failure = self.failure or ConnectionBroken("The service closed the connection.")
        self.wake()
        self.stop_timer()

    def pause_writing(self) -> None:
        self.is_write_blocked = True

    def resume_writing(self) -> None:
        self.is_write_blocked = False
        self.wake()

    def fail(self, error: httpx2.TransportError) -> None:
        self.failure = error
        self.close()
        self.wake()

    # --- httptools ------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        if self.is_complete:
            raise ValueError("an unrequested response")
        self.head = Head()  # An interim response may have come before it.

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers += 1
        if not self.has_head and self.headers <= MOST_HEADERS:  # Trailers are ignored.
            self.head.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.head.status = self.parser.get_status_code()
        if self.head.status < 200:
            return
        self.is_framed = any(
            name.lower() in {b"content-length", b"transfer-encoding"}
            for name, _ in self.head.headers
        )
        self.has_head = True

    def on_body(self, body: bytes) -> None:
        self.buffered += len(body)
        if not self.is_discarding:
            self.chunks.append(body)

    def on_message_complete(self) -> None:
        if self.has_head:
            self.is_complete = True
            self.keeps_alive = self.parser.should_keep_alive()


def closed_error() -> ConnectionBroken:
    return ConnectionBroken("The connection is closed.")
