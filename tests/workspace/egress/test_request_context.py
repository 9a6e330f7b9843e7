from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from httpx2 import StreamError

from apps.workspace.egress.guard import Trust
from apps.workspace.egress.request_context import CURRENT, RequestContext
from apps.workspace.egress.session_transport import RequestCredentials, make_session_client
from tests.workspace.openai.service import CHUNKED, ENDLESS, HEAD, LAST, answer, frame, service

pytestmark = pytest.mark.usefixtures("loopback")

MOST_BYTES = 100_000
BLOCK = b"x" * 10_000
JSON = CHUNKED.replace(b"text/event-stream", b"application/json")


async def no_credentials(refused: str) -> RequestCredentials:
    return RequestCredentials()


def as_it_is(message: bytes) -> list[bytes]:
    return [message]


def take_all(request: bytes) -> Callable[[bytes], bool]:
    return lambda message: True


async def send(url: str, context: RequestContext, method: str = "POST") -> tuple[int, bytes]:
    CURRENT.set(context)
    async with (
        asyncio.timeout(60),
        make_session_client(
            Trust.OPERATOR, no_credentials, MOST_BYTES, as_it_is, take_all
        ) as client,
        client.stream(method, url) as response,
    ):
        try:
            return response.status_code, await response.aread()
        except StreamError:
            return response.status_code, b""


@pytest.mark.parametrize(
    ("pieces", "status"),
    [
        ([b"H", ENDLESS], 502),
        ([HEAD, b"x-more: a\r\n", ENDLESS], 502),
        ([HEAD + b"x-more: ", b"y", ENDLESS], 502),
        ([b"HTTP/1.1 102 Processing\r\n\r\n", ENDLESS], 502),
        ([JSON, frame(b" "), ENDLESS], 200),
        ([CHUNKED, frame(b": ping\n\n"), ENDLESS], 200),
        ([CHUNKED, frame(b"x"), b"0\r\na:", b"b", ENDLESS], 200),
    ],
)
async def test_what_drips_does_not_outlive_its_request(pieces, status):
    # The head of the response must arrive in time.
    context = RequestContext(seconds=1.0 if status == 200 else 0.4)

    async with service(pieces) as running:
        running.pause = 0.02
        assert await send(running.url, context) == (status, b"")
        async with asyncio.timeout(60):
            await running.left.wait()

    assert context.timed_out
    assert "timed out" in context.failure


@pytest.mark.parametrize(
    "pieces",
    [
        [HEAD, b"x-more: " + BLOCK + b"\r\n", ENDLESS],
        [HEAD + b"x-more: ", BLOCK, ENDLESS],
        [JSON, frame(BLOCK), ENDLESS],
        [CHUNKED, frame(b"data: "), frame(BLOCK), ENDLESS],
        [CHUNKED, frame(b"x"), b"0\r\n", b"x-more: " + BLOCK + b"\r\n", ENDLESS],
        [CHUNKED, frame(b"x"), b"0\r\nx-more: ", BLOCK, ENDLESS],
    ],
)
async def test_what_never_ends_is_cut_off_by_its_size(pieces):
    context = RequestContext(seconds=30.0)

    async with service(pieces) as running:
        await send(running.url, context)
        async with asyncio.timeout(60):
            await running.left.wait()

    assert context.failure
    assert not context.timed_out
    assert running.repeated < 20 * MOST_BYTES


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_packed_answer_is_not_unpacked(method):
    packed = answer("200 OK", b"\x1f\x8b" + bytes(100))
    packed[0] = packed[0].replace(b"\r\n", b"\r\ncontent-encoding: gzip\r\n", 1)

    async with service(packed) as running:
        assert await send(running.url, RequestContext(), method) == (200, b"")


async def test_half_of_a_character_is_mended_wherever_it_is_cut():
    pieces = [frame(piece) for piece in (b'{"a": "\\', b"ud8", b'3d", "b": "\\ud83d\\ude00"}')]

    async with service([JSON, *pieces, LAST]) as running:
        _, body = await send(running.url, RequestContext())

    assert body == rb'{"a": "\ufffd", "b": "\ud83d\ude00"}'
