"""What is changed in Twisted, each for a measured reason, and each safe to leave out."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def use_direct_writes() -> None:
    """Send what the socket takes at once.

    Twisted queues each write and registers the socket with the poller until it can be written to,
    which for a token costs more than all else. Whatever the socket does not take goes the usual
    way, with its limits and its back-pressure; DAPHNE_DIRECT_WRITES=false restores it for all.
    """
    from twisted.internet import tcp

    class DirectTransport(tcp.Port.transport):  # type: ignore[misc, valid-type]
        def write(self, data: bytes) -> None:
            usual: Callable[[bytes], None] = super().write
            if not self.can_send() or not data:
                usual(data)
                return
            sent = self.writeSomeData(data)
            if isinstance(sent, BaseException):
                usual(data)  # meets the same error, and ends the connection
            elif sent < len(data):
                usual(data[sent:])

        def writeSequence(self, pieces: Any) -> None:  # noqa: N802 - Twisted's name
            self.write(b"".join(pieces))

        def can_send(self) -> bool:
            """Nothing may overtake what waits, and encryption has a way of its own."""
            return bool(
                self.connected
                and not self.TLS
                and not self.disconnecting
                and not self._writeDisconnecting
                and not self._tempDataLen
                and self.offset == len(self.dataBuffer)
            )

    tcp.Port.transport = DirectTransport


def keep_content_types() -> None:
    """Remember what a Content-Type means: Twisted asks Python's mail parser for every request."""
    from twisted.web import http

    http._parseContentType = functools.lru_cache(maxsize=256)(http._parseContentType)


def lift_limit_of_sent_messages() -> None:
    """Let WebSocket messages to clients be of any size; daphne's limit is meant for what they send.

    A long answer comes in one message when it is shown as a whole.
    """
    from daphne.ws_protocol import WebSocketProtocol

    usual: Callable[..., None] = WebSocketProtocol.serverSend

    def send(protocol: Any, content: Any, binary: bool = False) -> None:
        most = protocol.maxMessagePayloadSize
        protocol.maxMessagePayloadSize = 0
        try:
            usual(protocol, content, binary)
        finally:
            protocol.maxMessagePayloadSize = most

    WebSocketProtocol.serverSend = send
