"""Remembers which servers support only the older protocol revision.

A client sends `server/discover` first (revision 2026-07-28), and falls back to `initialize`.
Remembering the fallback saves a round trip.
"""

import time
from collections.abc import Iterable

import mcp_types as types
from mcp.shared.exceptions import MCPError

REMEMBERED_SECONDS = 3_600.0
"""The newer revision is tried again after this many seconds, because the server may have been
upgraded.
"""
MOST_REMEMBERED = 1_000
HANDSHAKE_REFUSED = frozenset(
    {types.UNSUPPORTED_PROTOCOL_VERSION, types.HEADER_MISMATCH, types.METHOD_NOT_FOUND}
)
"""The error codes with which a server of the newer revision rejects `initialize`."""


class HandshakeServers:
    """The URLs of servers that rejected `server/discover` and accepted `initialize`."""

    def __init__(self) -> None:
        self.until: dict[str, float] = {}

    def __contains__(self, url: str) -> bool:
        return time.monotonic() < self.until.get(url, 0.0)

    def add(self, url: str) -> None:
        self.until.pop(url, None)
        self.until[url] = time.monotonic() + REMEMBERED_SECONDS
        if len(self.until) > MOST_REMEMBERED:
            del self.until[next(iter(self.until))]

    def discard(self, url: str) -> None:
        self.until.pop(url, None)


def refuses_handshake(errors: Iterable[BaseException]) -> bool:
    return any(isinstance(one, MCPError) and one.code in HANDSHAKE_REFUSED for one in errors)
