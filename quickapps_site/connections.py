"""How many connections there may be, and how long one may take to say what it wants.

Daphne has neither limit: whoever opens connections and says nothing, or sends a byte now and then,
takes them all.
"""

from __future__ import annotations

import asyncio
from typing import Any

# Stand-ins for the classes of Daphne and Twisted: importing those takes the event loop that is there.
Channel: Any = object
Factory: Any = object
Transport: Any = object

LATE = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
CROWDED = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)

OPEN: set[Any] = set()
"""The connections that there are, WebSockets included."""


def bound_connections(head_seconds: float, most: int) -> None:
    """Cut off who sends no whole head in `head_seconds`, and answer 503 to more than `most` at once.

    Called before anything is accepted.
    """
    from daphne import server
    from twisted.internet import protocol, tcp
    from twisted.web import http

    channel = type("PromptChannel", (PromptChannel, http.HTTPChannel), {"seconds": head_seconds})
    bounds = {
        "protocol": channel,
        "most": most,
        "refusing": type("Refusing", (Refusing, protocol.Protocol), {}),
    }
    server.HTTPFactory = type("BoundedFactory", (BoundedFactory, server.HTTPFactory), bounds)
    counted: Any = type("CountedTransport", (CountedTransport, tcp.Port.transport), {})
    tcp.Port.transport = counted


class CountedTransport(Transport):  # type: ignore[misc]
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        OPEN.add(self)

    def connectionLost(self, reason: Any) -> None:  # noqa: N802 - Twisted's name
        OPEN.discard(self)
        super().connectionLost(reason)


class PromptChannel(Channel):  # type: ignore[misc]
    """The clock runs from when a connection is made, or a further head begins, to the head's end."""

    seconds: float
    alarm: asyncio.TimerHandle | None = None

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        super().connectionMade()
        self.expect_head()

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        if self.alarm is None and not self.requests:
            self.expect_head()
        super().dataReceived(data)

    def allHeadersReceived(self) -> None:  # noqa: N802 - Twisted's name
        self.calm()
        super().allHeadersReceived()

    def connectionLost(self, reason: Any) -> None:  # noqa: N802 - Twisted's name
        self.calm()
        super().connectionLost(reason)

    def expect_head(self) -> None:
        self.alarm = asyncio.get_running_loop().call_later(self.seconds, self.give_up)

    def calm(self) -> None:
        if self.alarm is not None:
            self.alarm.cancel()
            self.alarm = None

    def give_up(self) -> None:
        self.transport.write(LATE)
        self.transport.loseConnection()


class BoundedFactory(Factory):  # type: ignore[misc]
    most: int
    refusing: Any

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 - Twisted's name
        return self.refusing() if len(OPEN) >= self.most else super().buildProtocol(addr)


class Refusing:
    """Stands in for a channel where there are too many already."""

    transport: Any

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        self.transport.write(CROWDED)
        self.transport.loseConnection()
