"""Requests to Core over connections that all callers share.

The caller is named in the headers of each request, so no state is kept for a key.
"""

from __future__ import annotations

import functools
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.workspace.dial.core import Core
from apps.workspace.dial.headers import encoded_headers
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.per_loop import shared
from apps.workspace.egress.sdk_clients import URL, Request
from apps.workspace.egress.transport import (
    Limits,
    Origin,
    StreamedResponse,
    StreamTransport,
    join_head,
    origin_of,
)

OURS = ((b"Accept-Encoding", b"identity"), (b"User-Agent", b"QuickApps"))


class TooLarge(Exception):
    """The body has more than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The answer is larger than {limit} bytes.")


@dataclass(frozen=True, slots=True)
class File:
    """A file to send as a form, the way Core accepts files."""

    content: bytes = field(repr=False)
    content_type: str


@dataclass(frozen=True, slots=True)
class RequestBase:
    """The common parts of all requests to one Core."""

    origin: Origin
    path: bytes
    headers: tuple[tuple[bytes, bytes], ...]


@functools.lru_cache(maxsize=8)
def base_of(url: str) -> RequestBase:
    """Raises `InvalidURL`, `UnsupportedProtocol`."""
    place = URL(url)
    return RequestBase(
        origin_of(place), place.raw_path.rstrip(b"/"), ((b"Host", place.netloc), *OURS)
    )


async def send(
    core: Core,
    method: str,
    target: str,
    headers: Mapping[str, str],
    limits: Limits,
    content: bytes = b"",
) -> StreamedResponse:
    """Return the answer; the caller closes its body. `target` is an encoded path with its query.

    Raises `HTTPError`, `InvalidURL`, `EgressRefused`.
    """
    base = base_of(core.url)
    size = ((b"Content-Length", b"%d" % len(content)),) if content else ()
    pairs = (*base.headers, *encoded_headers(headers), *size)
    head = join_head(method, base.path + target.encode("ascii"), pairs)
    return await find_transport().answer(base.origin, head + content, limits)


def find_transport() -> StreamTransport:
    return shared((StreamTransport, Trust.DIAL), lambda: StreamTransport(Trust.DIAL))


def encoded_body(value: Any, file: File | None) -> tuple[dict[str, str], bytes]:
    """Headers and content for a file, a JSON value, or neither (None)."""
    if file is not None:
        form = {"file": ("file", file.content, file.content_type)}
        request = Request("PUT", "http://any", files=form)
        return {"Content-Type": request.headers["content-type"]}, request.read()
    if value is None:
        return {}, b""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return {"Content-Type": "application/json"}, text.encode()


async def read_whole(answer: StreamedResponse, limit: int) -> bytes:
    """The body, of at most `limit` bytes. Raises `HTTPError`, `TooLarge`."""
    return b"".join([piece async for piece in read_pieces(answer, limit)])


async def read_pieces(answer: StreamedResponse, limit: int) -> AsyncIterator[bytes]:
    """As `read_whole`, piece by piece."""
    announced = answer.header(b"content-length")
    if announced.isdigit() and int(announced) > limit:
        raise TooLarge(limit)
    size = 0
    while piece := await answer.body.read_piece():
        size += len(piece)
        if size > limit:
            raise TooLarge(limit)
        yield piece
