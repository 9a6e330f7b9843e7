"""Bodies are bounded where they come in: Twisted keeps a whole one before any application hears of it.

On disk if need be, so without this one client could fill the disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from quickapps_site.bodies import BodyRefused, MostOf, page_of, tell, too_large, too_slow

if TYPE_CHECKING:
    from daphne.http_protocol import WebRequest
else:
    WebRequest = object  # importing it takes the event loop that is there

LINGERING_SECONDS = 5.0
"""An answer that overtakes the end of its request is lost if the connection is closed at once."""


def bound_bodies(most: MostOf, seconds: float) -> None:
    """Refuse a request whose body is larger than `most` of its path, or not there in `seconds`."""
    from daphne import http_protocol

    bounds = {"most_of": staticmethod(most), "seconds": seconds}
    usual = http_protocol.WebRequest
    # Requests are told from sockets by this name.
    http_protocol.WebRequest = type("WebRequest", (BoundedRequest, usual), bounds)


class BoundedRequest(WebRequest):  # type: ignore[misc]
    """What is other than in a request of Daphne's."""

    most_of: MostOf
    seconds: float
    most = 0
    is_refused = False
    alarm: asyncio.TimerHandle | None = None

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - Twisted's name
        """Called when the head is complete; None is a length that is not told."""
        self.most = self.most_of(self.wanted)
        is_too_large = length is not None and length > self.most
        super().gotLength(0 if is_too_large else length)
        if is_too_large:
            self.refuse(too_large(self.most))
        elif length != 0:
            self.alarm = later(self.seconds, self.refuse, too_slow(self.seconds))

    @property
    def wanted(self) -> str:
        """The path, which Twisted tells the request only when its body is complete."""
        address: bytes = getattr(self.channel, "_path", b"")
        return unquote(address.partition(b"?")[0].decode("latin-1"))

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        if self.is_refused:
            return
        if self.content.tell() + len(data) > self.most:
            self.refuse(too_large(self.most))
        else:
            super().handleContentChunk(data)

    def process(self) -> Any:
        self.calm()
        return None if self.is_refused else super().process()

    def connectionLost(self, reason: Any) -> None:  # noqa: N802 - Twisted's name
        self.calm()
        super().connectionLost(reason)

    def calm(self) -> None:
        if self.alarm is not None:
            self.alarm.cancel()

    def refuse(self, refused: BodyRefused) -> None:
        """Answer, and listen for a while to what is still being sent: who sends reads late."""
        self.calm()
        self.is_refused = True
        self.content.truncate(0)
        if self.channel is None:
            return
        tell(refused, self.wanted)
        transport = self.channel.transport
        transport.write(refusal(refused, self.getHeader(b"accept") or b""))
        transport.loseWriteConnection()
        later(LINGERING_SECONDS, hang_up, transport)


def later(seconds: float, act: Callable[..., object], *arguments: object) -> asyncio.TimerHandle:
    return asyncio.get_running_loop().call_later(seconds, act, *arguments)


def refusal(refused: BodyRefused, accept: bytes) -> bytes:
    """A whole answer; afterwards the connection is of no use."""
    content_type, content = page_of(refused, accept)
    head = (
        f"HTTP/1.1 {refused.status:d} {refused.status.phrase}\r\n"
        f"content-type: {content_type.decode()}\r\n"
        f"content-length: {len(content)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + content


def hang_up(transport: Any) -> None:
    if transport.connected:
        transport.abortConnection()
