"""Who writes to a client that does not read waits, and is rid of it when it takes nothing at all.

Twisted keeps whatever a socket does not take. That costs memory without end, so beyond a limit the
sender is held up, which costs nothing as long as no client is slow.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

logger = logging.getLogger(__name__)

MOST_UNSENT_BYTES = 1024 * 1024
"""A sender waits when there is more, until there is half of it; beside it the system keeps some
megabytes of its own for each connection."""
STALLED_SECONDS = 30.0
"""Who takes nothing for so long is cut off: two heartbeats, and what a phone needs to change its
network."""

FULL: set[Any] = set()
"""The transports that have too much to send; empty nearly always."""


def bound_buffers() -> None:
    """Watch what accepted connections have not sent. Called before anything is accepted."""
    from twisted.internet import tcp

    usual = tcp.Port.transport

    class BoundTransport(usual):  # type: ignore[misc, valid-type]
        def _maybePauseProducer(self) -> None:  # noqa: N802 - Twisted's name
            """Called when something has to wait, so not for what the socket takes at once."""
            super()._maybePauseProducer()
            if unsent(self) > MOST_UNSENT_BYTES:
                FULL.add(self)

        def doWrite(self) -> Any:  # noqa: N802 - Twisted's name
            result = super().doWrite()
            if self in FULL:
                self.note_progress()
            return result

        def connectionLost(self, reason: Any) -> None:  # noqa: N802 - Twisted's name
            FULL.discard(self)
            super().connectionLost(reason)
            tell(self)

        def note_progress(self) -> None:
            if unsent(self) <= MOST_UNSENT_BYTES // 2:
                FULL.discard(self)
            tell(self)

    tcp.Port.transport = BoundTransport


def unsent(transport: Any) -> int:
    """Bytes that the socket has not taken yet."""
    return len(transport.dataBuffer) - int(transport.offset) + int(transport._tempDataLen)


def tell(transport: Any) -> None:
    """Wake who waits for the socket to take something."""
    for waiting in transport.__dict__.pop("waiting", ()):
        if not waiting.done():
            waiting.set_result(None)


async def until_taken(transport: Any) -> None:
    """Until there is room for more; a client that takes nothing is cut off."""
    while transport in FULL:
        progress = asyncio.get_running_loop().create_future()
        transport.__dict__.setdefault("waiting", []).append(progress)
        try:
            async with asyncio.timeout(STALLED_SECONDS):
                await progress
        except TimeoutError:
            logger.warning(
                "A client was cut off: it took nothing for %g seconds, with %d bytes to send: "
                "client=%s",
                STALLED_SECONDS,
                unsent(transport),
                transport.getPeer(),
            )
            transport.abortConnection()
            return


def transport_of(protocol: Any) -> Any:
    """A WebSocket has one of its own; a request has that of its channel, while it has one."""
    if hasattr(protocol, "channel"):
        return getattr(protocol.channel, "transport", None)
    return protocol.transport
