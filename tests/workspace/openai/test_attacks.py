"""Services that never end their answer: the time and memory for each is limited."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Iterator

import pytest

from apps.agent.messages import ModelMessage
from apps.agent.model import ModelRequest
from apps.errors import ModelFailed
from apps.workspace.openai.model import make_openai_model
from apps.workspace.services.event_stream import MOST_EVENT_BYTES
from tests.workspace.openai.service import (
    CHUNKED,
    CLOSE,
    ENDLESS,
    HEAD,
    LAST,
    RESET,
    UNTIL_CLOSE,
    Service,
    frame,
    service,
    text,
)

pytestmark = pytest.mark.usefixtures("loopback")

QUESTION = ModelRequest((ModelMessage("user", "Hi"),))
BLOCK = b"x" * 65_536
MOST_MEMORY = 8 * MOST_EVENT_BYTES


@pytest.fixture
def memory() -> Iterator[None]:
    """Fail if more memory was needed at once than for a few of the largest events."""
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MOST_MEMORY


async def failure(running: Service, idle_seconds: float = 30.0) -> ModelFailed:
    model = make_openai_model(
        base_url=running.url, api_key="k", model="m", idle_seconds=idle_seconds
    )
    with pytest.raises(ModelFailed) as caught:
        async with asyncio.timeout(60):
            async for _ in model.stream(QUESTION):
                pass
    return caught.value


HEADER = b"x-more: " + b"y" * 1000 + b"\r\n"


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize(
    ("pieces", "reason", "said"),
    [
        ([HEAD, HEADER * 60, ENDLESS], "connection", "headers or trailers"),
        ([HEAD, b"a:\r\n" * 100, ENDLESS], "connection", "headers or trailers"),
        ([HEAD + b"x-more: ", BLOCK, ENDLESS], "connection", "headers or trailers"),
        ([b"HTTP/1.1 103 Early\r\n\r\n", ENDLESS], "connection", "headers or trailers"),
        ([b"HTTP/1.1 200 " + BLOCK, BLOCK, ENDLESS], "connection", ""),
        ([CHUNKED, frame(text("a")), b"0\r\n", HEADER * 60, ENDLESS], "stream", ""),
        ([CHUNKED, frame(text("a")), b"0\r\n", b"a:\r\n" * 100, ENDLESS], "stream", ""),
        ([CHUNKED, frame(text("a")), b"0\r\nx-more: ", BLOCK, ENDLESS], "stream", ""),
        ([CHUNKED, frame(text("a")), b"5;x=", BLOCK, ENDLESS], "stream", ""),
        ([CHUNKED, frame(b"data: "), frame(BLOCK), ENDLESS], "unreadable", "too large"),
        ([CHUNKED, frame(b": " + BLOCK), ENDLESS], "unreadable", "too large"),
        ([CHUNKED, frame(b"data: x\n" * 10_000), ENDLESS], "unreadable", "too large"),
        ([UNTIL_CLOSE, b"data: ", BLOCK, ENDLESS], "unreadable", "too large"),
    ],
)
async def test_what_never_ends_is_cut_off_by_its_size(pieces, reason, said):
    async with service(pieces) as running:
        caught = await failure(running)
        async with asyncio.timeout(60):
            await running.left.wait()

    assert caught.reason == reason
    assert said in str(caught)
    assert running.repeated < 4 * MOST_EVENT_BYTES


@pytest.mark.parametrize(
    "pieces",
    [
        [b"H", ENDLESS],
        [HEAD, b"y", ENDLESS],
        [HEAD + b"x-more: ", b"y", ENDLESS],
        [b"HTTP/1.1 102 Processing\r\n\r\n", ENDLESS],
    ],
)
async def test_headers_that_drip_have_the_time_of_a_silence(pieces):
    async with service(pieces) as running:
        running.pause = 0.02
        caught = await failure(running, idle_seconds=0.3)
        async with asyncio.timeout(60):
            await running.left.wait()

    assert (caught.reason, caught.is_transient) in {("timeout", False), ("connection", True)}


@pytest.mark.parametrize(
    "pieces",
    [
        [CHUNKED, frame(b": ping\n\n"), ENDLESS],
        [CHUNKED, frame(b"data: "), frame(b"x"), ENDLESS],
        [CHUNKED, frame(text("a")), ENDLESS],
        [CHUNKED, frame(text("a")), b"0\r\na:", b"b", ENDLESS],
        [HEAD.replace(b"text/event-stream", b"application/json") + b"\r\n", b" ", ENDLESS],
    ],
)
async def test_an_answer_that_drips_for_ever_is_cut_off_by_the_clock(pieces, monkeypatch):
    monkeypatch.setattr("apps.workspace.services.client.CALL_SECONDS", 0.4)

    async with service(pieces) as running:
        running.pause = 0.02
        caught = await failure(running)
        async with asyncio.timeout(60):
            await running.left.wait()

    assert (caught.reason, caught.is_transient) == ("timeout", False)
    assert "The response did not end within 0.4 seconds." in str(caught)


async def test_a_refusal_that_drips_keeps_its_status(monkeypatch):
    monkeypatch.setattr("apps.workspace.services.client.CALL_SECONDS", 1.0)

    async with service([CHUNKED.replace(b"200 OK", b"503 No"), frame(b"x"), ENDLESS]) as running:
        running.pause = 0.02
        caught = await failure(running)

    assert (caught.reason, caught.status, caught.is_transient) == ("status", 503, True)


@pytest.mark.parametrize(
    "pieces",
    [
        [RESET],
        [HEAD, RESET],
        [CHUNKED, frame(text("a")), RESET],
        [UNTIL_CLOSE, text("a"), RESET],
        [CHUNKED, frame(text("a")) + b"3\r\nda", CLOSE],
        [CHUNKED, frame(text("a")), LAST],
    ],
)
async def test_a_connection_that_breaks_off_is_told(pieces):
    async with service(pieces) as running:
        caught = await failure(running)

    assert caught.reason in {"connection", "stream"}
    assert "disconnected" in str(caught)
