"""Configurable faults on the way to a client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from tests.dial_core.refusals import Refusal


class Dropped(Exception):
    """The connection must be dropped without another byte."""


@dataclass(frozen=True, slots=True)
class Faults:
    """Faults of the completions of one deployment. Before the headers, `error` (a status and a
    plain text) is sent or, with `drop_first`, nothing. `stall_after` and `drop_after` are events of
    a stream. `piece_bytes` splits what is sent at arbitrary positions, even within a character;
    `comments` inserts one between any two events; `crlf` ends lines with both characters."""

    error: tuple[int, str] | None = None
    drop_first: bool = False
    stall_after: int | None = None
    drop_after: int | None = None
    piece_bytes: int | None = None
    comments: bool = False
    crlf: bool = False

    def begin(self) -> None:
        """Raise `Refusal` or `Dropped` in place of an answer."""
        if self.error is not None:
            raise Refusal(*self.error)
        if self.drop_first:
            raise Dropped

    @property
    def touch_events(self) -> bool:
        stops = (self.stall_after, self.drop_after, self.piece_bytes)
        return self.comments or self.crlf or any(stop is not None for stop in stops)

    async def during(self, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Return the stream with its faults. Raises `Dropped`."""
        if not self.touch_events:
            async for data in stream:
                yield data
            return
        count = 0
        async for event in whole_events(stream):
            if count == self.stall_after:
                await asyncio.Event().wait()
            if count == self.drop_after:
                raise Dropped
            for piece in self.pieces(event):
                yield piece
            count += 1

    def pieces(self, event: bytes) -> list[bytes]:
        if self.comments:
            event = b": a comment\n\n" + event
        if self.crlf:
            event = event.replace(b"\n", b"\r\n")
        size = self.piece_bytes or len(event)
        return [event[start : start + size] for start in range(0, len(event), size)]


async def whole_events(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield each event with its blank line. An incomplete rest is returned unchanged."""
    rest = b""
    async for data in stream:
        *events, rest = (rest + data).split(b"\n\n")
        for event in events:
            yield event + b"\n\n"
    if rest:
        yield rest
