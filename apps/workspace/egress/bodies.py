"""Response bodies, read up to a limit that holds before and after decompression."""

import zlib
from collections.abc import AsyncIterator

from apps.integers import read_integer
from apps.workspace.egress.clients import HTTPError, Response

WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 47}
"""Content codings that are decompressed, with zlib's `wbits` for each."""


class BodyTooLarge(HTTPError):
    def __init__(self, limit: int) -> None:
        super().__init__(f"The answer is larger than {limit} bytes.")
        self.limit = limit


class BodyUnreadable(HTTPError):
    """The body has an unknown content coding, or is damaged."""


async def read_body(response: Response, limit: int) -> bytes:
    """The whole body of a streamed response, at most `limit` bytes.

    Raises `BodyTooLarge`, `BodyUnreadable` and the client's own errors.
    """
    return b"".join([piece async for piece in stream_body(response, limit)])


async def stream_body(response: Response, limit: int) -> AsyncIterator[bytes]:
    """The decompressed body of a streamed response in pieces; raises as `read_body`."""
    if (read_integer(response.headers.get("content-length", "")) or 0) > limit:
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


def find_unpacker(coding: str) -> "zlib._Decompress | None":
    name = coding.strip().lower()
    if name in {"", "identity"}:
        return None
    if name not in WINDOW_BITS:
        raise BodyUnreadable(f"The answer is packed as {name!r}, which is not understood.")
    return zlib.decompressobj(WINDOW_BITS[name])


def unpack(unpacker: "zlib._Decompress", raw: bytes, most: int) -> bytes:
    """At most `most` bytes: a compressed body may grow a thousandfold."""
    try:
        return unpacker.decompress(raw, most)
    except zlib.error as error:
        raise BodyUnreadable("The packed answer is damaged.") from error
