"""Reading an answer of unknown size: never more than a limit, packed or unpacked."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator

from apps.workspace.egress.clients import HTTPError, Response

PACKED = {"gzip": 31, "x-gzip": 31, "deflate": 47}
"""Content codings that are unpacked, and how zlib is told to read each."""


class BodyTooLarge(HTTPError):
    def __init__(self, limit: int) -> None:
        super().__init__(f"The answer is larger than {limit} bytes.")
        self.limit = limit


class BodyUnreadable(HTTPError):
    """The answer is packed in a way that was not asked for, or is damaged."""


async def read_body(response: Response, limit: int) -> bytes:
    """The whole body of a streamed response, at most `limit` bytes.

    Raises `BodyTooLarge`, `BodyUnreadable` and the client's own errors.
    """
    return b"".join([piece async for piece in stream_body(response, limit)])


async def stream_body(response: Response, limit: int) -> AsyncIterator[bytes]:
    """The body of a streamed response, unpacked, piece by piece; raises as `read_body` does."""
    announced = response.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit:
        raise BodyTooLarge(limit)
    unpacker = find_unpacker(response.headers.get("content-encoding", ""))
    size = 0
    async for raw in response.aiter_raw():
        piece = raw if unpacker is None else unpack(unpacker, raw, limit - size + 1)
        size += len(piece)
        if size > limit:
            raise BodyTooLarge(limit)
        if piece:
            yield piece
    if unpacker is not None and size and not unpacker.eof:
        raise BodyUnreadable("The packed answer ends too early.")


def find_unpacker(coding: str) -> zlib._Decompress | None:
    name = coding.strip().lower()
    if name in {"", "identity"}:
        return None
    if name not in PACKED:
        raise BodyUnreadable(f"The answer is packed as {name!r}, which is not understood.")
    return zlib.decompressobj(PACKED[name])


def unpack(unpacker: zlib._Decompress, raw: bytes, most: int) -> bytes:
    """At most `most` bytes: a small packed answer may unpack to a thousand times its size."""
    try:
        return unpacker.decompress(raw, most)
    except zlib.error as error:
        raise BodyUnreadable("The packed answer is damaged.") from error
