"""Reads response bodies, with a size limit before and after decompression."""

import zlib
from collections.abc import AsyncGenerator

from apps.integers import read_integer
from apps.workspace.egress.clients import HTTPError, Response

WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 47}
"""Maps each supported content encoding to zlib's `wbits`."""


class ResponseBodyTooLarge(HTTPError):
    def __init__(self, limit: int) -> None:
        super().__init__(f"The response is larger than {limit} bytes.")
        self.limit = limit


class BodyUnreadable(HTTPError):
    """Raised if the body has an unknown content encoding or is corrupt."""


async def read_body(response: Response, limit: int) -> bytes:
    """Return the whole decompressed body of a streamed response.

    Raises `ResponseBodyTooLarge` if the body exceeds `limit` bytes, `BodyUnreadable` if its
    compression is unknown or its data is corrupt, and the client's own errors.
    """
    return b"".join([chunk async for chunk in stream_body(response, limit)])


async def stream_body(response: Response, limit: int) -> AsyncGenerator[bytes, None]:
    """Yield the decompressed body of a streamed response in chunks. Raises the same errors as
    `read_body`.
    """
    if (read_integer(response.headers.get("content-length", "")) or 0) > limit:
        raise ResponseBodyTooLarge(limit)
    unpacker = find_unpacker(response.headers.get("content-encoding", ""))
    size = 0
    async for raw in response.aiter_raw():
        chunk = raw if unpacker is None else unpack(unpacker, raw, limit - size + 1)
        size += len(chunk)
        if size > limit:
            raise ResponseBodyTooLarge(limit)
        if chunk:
            yield chunk
    if unpacker is not None and size and not unpacker.eof:
        raise BodyUnreadable("The compressed response is incomplete.")


def find_unpacker(coding: str) -> "zlib._Decompress | None":
    name = coding.strip().lower()
    if name in {"", "identity"}:
        return None
    if name not in WINDOW_BITS:
        raise BodyUnreadable(f"The response uses the unsupported compression {name!r}.")
    return zlib.decompressobj(WINDOW_BITS[name])


def unpack(unpacker: "zlib._Decompress", raw: bytes, most: int) -> bytes:
    """Decompress up to `most` bytes, because a body may grow a thousandfold when decompressed."""
    try:
        return unpacker.decompress(raw, most)
    except zlib.error as error:
        raise BodyUnreadable("The compressed response is damaged.") from error
