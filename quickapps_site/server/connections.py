"""Extends uvicorn's connections: limits the time and size of request heads, and disconnects clients
that stop reading.

The classes override only public methods of asyncio's and uvicorn's protocols. `apps.doors.bodies`
limits request bodies, because each API needs a different limit.
"""

import asyncio
import logging
from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

logger = logging.getLogger(__name__)

HEAD_BYTES = 64 * 1024
"""The maximum size in bytes of a request's head (request line and headers), as in h11. Browsers and
proxies limit headers to 8 to 32 KiB.
"""
HEAD_SECONDS = 20.0
"""The time in seconds within which the head of a request must arrive."""
CONNECTIONS = 10_000
"""The maximum number of connections per process, including WebSockets and streamed answers. Further
connections get status 503.
"""
STALLED_SECONDS = 30.0
"""A client that reads nothing for this many seconds is disconnected. This is enough for two
heartbeats, and for a phone to change networks.
"""


class StallGuard(asyncio.Protocol):
    """Disconnects a client that reads nothing for `STALLED_SECONDS` while there is data to send.

    Senders need no notification: uvicorn's `send` returns when the connection is lost.
    """

    transport: asyncio.Transport
    stall_timer: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self.watch()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.stop_watching()

    def connection_lost(self, exc: Exception | None) -> None:
        self.stop_watching()
        super().connection_lost(exc)

    def watch(self) -> None:
        unsent = self.transport.get_write_buffer_size()
        loop = asyncio.get_running_loop()
        self.stall_timer = loop.call_later(STALLED_SECONDS, self.look_for_progress, unsent)

    def stop_watching(self) -> None:
        if self.stall_timer is not None:
            self.stall_timer.cancel()
            self.stall_timer = None

    def look_for_progress(self, unsent_before: int) -> None:
        unsent = self.transport.get_write_buffer_size()
        if unsent < unsent_before:
            self.watch()
            return
        logger.warning(
            "Disconnected a client: it read nothing for %g seconds, with %d bytes left to "
            "send: client=%s",
            STALLED_SECONDS,
            unsent,
            self.transport.get_extra_info("peername"),
        )
        self.transport.abort()


class BoundedWebSocket(StallGuard, WebSocketsSansIOProtocol):
    pass


class BoundedHttp(StallGuard, HttpToolsProtocol):
    """An HTTP connection with the limits `HEAD_SECONDS`, `HEAD_BYTES` and `CONNECTIONS`."""

    awaits_head = True
    head_bytes = 0
    """The number of bytes received so far of an incomplete request head."""
    head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            self.refuse(HTTPStatus.SERVICE_UNAVAILABLE)
        else:
            self.expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self.stop_clock()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.awaits_head:
            self.expect_head()
            room = HEAD_BYTES - self.head_bytes
            head, data = data[:room], data[room:]
            self.head_bytes += len(head)
            super().data_received(head)
            if self.head_bytes == HEAD_BYTES:  # The number is 0 after a complete head.
                self.refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            is_upgraded = self.transport.get_protocol() is not self
            if not data or is_upgraded or self.transport.is_closing():
                return
        super().data_received(data)

    def on_headers_complete(self) -> None:
        self.stop_clock()
        self.awaits_head, self.head_bytes = False, 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self.awaits_head = True
        super().on_message_complete()

    def expect_head(self) -> None:
        """Start the timer for the next request's head. While an answer is in progress, there is no
        timer.
        """
        if self.head_timer is None and not self.is_answering():
            self.head_timer = asyncio.get_running_loop().call_later(
                HEAD_SECONDS, self.refuse, HTTPStatus.REQUEST_TIMEOUT
            )

    def stop_clock(self) -> None:
        if self.head_timer is not None:
            self.head_timer.cancel()
            self.head_timer = None

    def is_answering(self) -> bool:
        is_complete = getattr(
            self.cycle, "response_complete", True
        )  # There is no cycle before the first request.
        return not is_complete

    def refuse(self, status: HTTPStatus) -> None:
        """Send a response without a body, unless another response has begun. Then disconnect."""
        retry = "retry-after: 1\r\n" if status is HTTPStatus.SERVICE_UNAVAILABLE else ""
        if not self.is_answering():
            self.transport.write(
                f"HTTP/1.1 {status:d} {status.phrase}\r\n{retry}"
                "content-length: 0\r\nconnection: close\r\n\r\n".encode()
            )
        self.transport.close()
