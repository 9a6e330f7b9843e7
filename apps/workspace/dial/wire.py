"""The way to Core: connections that all callers share, and one reading of what comes back.

Who asks is told in the headers of each request, so nothing is kept for a key once it is answered.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, cast

from apps.workspace.dial.headers import written
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.lifetimes import shared
from apps.workspace.egress.sdk_clients import (
    Body,
    Request,
    Response,
    StreamClient,
    make_stream_client,
)
from apps.workspace.egress.transport import Limits

OURS = ((b"Accept-Encoding", b"identity"), (b"User-Agent", b"QuickApps"))


class TooLarge(Exception):
    """The body has more than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The answer is larger than {limit} bytes.")


async def send(
    method: str, url: str, headers: Mapping[str, str], limits: Limits, **content: Any
) -> Response:
    """The head of the answer; the caller closes its stream. `content` is the client's.

    Raises `HTTPError`, `InvalidURL`, `EgressRefused`.
    """
    request = Request(
        method,
        url,
        headers=[*written(headers), *OURS],
        extensions={"timeout": limits},
        **content,
    )
    return await find_client().send(request, stream=True)


def find_client() -> StreamClient:
    return shared((StreamClient, Trust.DIAL), lambda: make_stream_client(Trust.DIAL))


async def read_whole(response: Response, limit: int) -> bytes:
    """The body, of at most `limit` bytes. Raises `HTTPError`, `TooLarge`."""
    return b"".join([piece async for piece in read_pieces(response, limit)])


async def read_pieces(response: Response, limit: int) -> AsyncIterator[bytes]:
    """The same as it comes."""
    announced = response.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit:
        raise TooLarge(limit)
    body = cast(Body, response.stream)
    size = 0
    while piece := await body.read_piece():
        size += len(piece)
        if size > limit:
            raise TooLarge(limit)
        yield piece
