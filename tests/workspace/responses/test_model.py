from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import pytest

from apps.agent import replies
from apps.agent.assembly import Assembly
from apps.agent.events import TextDelta, Usage
from apps.agent.messages import Message
from apps.agent.model import Delta, Finish, Model, ModelRequest
from apps.errors import ModelFailed
from apps.workspace.responses.model import make_model
from apps.workspace.services.client import Service as Address
from apps.workspace.services.model import ServiceModel
from apps.workspace.services.probe import probe
from tests.workspace.openai.service import (
    CHUNKED,
    CLOSE,
    HOLD,
    LAST,
    Service,
    answer,
    chunked,
    frame,
    service,
)
from tests.workspace.responses.wire import encoded, message, response, stream, streamed

QUESTION = ModelRequest((Message("user", "Hi"),))
SAID = stream(message("a"))
BEGUN = SAID.partition(b"event: response.output_text.done")[0]


@pytest.fixture(autouse=True)
def _loopback(settings: Any) -> None:
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]


def model_of(running: Service, **options: Any) -> ServiceModel[Address]:
    options = {"api_key": "key-1", "model": "m", "idle_seconds": 5.0, **options}
    return make_model(base_url=running.url, **options)


async def ask(model: Model, request: ModelRequest = QUESTION) -> list[Delta]:
    async with asyncio.timeout(60):
        return [delta async for batch in model.stream(request) for delta in batch]


def words(deltas: Sequence[Delta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


async def failure_of(*pieces: Any, **options: Any) -> ModelFailed:
    async with service(list(pieces)) as running:
        with pytest.raises(ModelFailed) as caught:
            await ask(model_of(running, **options))
    return caught.value


async def test_the_service_is_asked_where_and_as_it_expects_and_answers_with_its_usage():
    async with service(streamed(message("Hello you"))) as running:
        deltas = await ask(model_of(running))

    headers, body = running.requests[0]
    assert headers["target"] == "/v1/responses"
    assert headers["authorization"] == "Bearer key-1"
    assert headers["accept"] == "text/event-stream"
    assert body["input"] == [{"role": "user", "content": "Hi"}]
    assert words(deltas) == "Hello you"
    assert deltas[-2:] == [Usage(30, 12, cached=20, created=5, reasoning=8), Finish("stop")]


async def test_answers_one_after_another_use_one_connection():
    async with service(*(streamed(message("a")) for _ in range(3))) as running:
        said = [words(await ask(model_of(running))) for _ in range(3)]

    assert (said, running.connections) == (["a"] * 3, 1)


@pytest.mark.parametrize(
    "rest", [[CLOSE], [frame(b"data: [DONE]\n\n"), LAST], [frame(b"data: {nonsense\n\n")], [HOLD]]
)
async def test_an_answer_that_has_finished_is_complete_whatever_follows(rest):
    async with service([CHUNKED, frame(SAID), *rest]) as running, asyncio.timeout(60):
        model = model_of(running, idle_seconds=0.3)
        reply = await replies.ask(model, QUESTION, lambda event: None, name="m")

    assert (reply.message.text, reply.finish_reason) == ("a", "stop")


@pytest.mark.parametrize("pieces", [chunked(BEGUN), [CHUNKED, frame(BEGUN), CLOSE]])
async def test_an_answer_that_breaks_off_is_a_failure(pieces):
    failure = await failure_of(*pieces)

    assert (failure.reason, failure.status) == ("stream", None)


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (
            answer("401 Unauthorized", b'{"error":{"message":"no key-1","code":"bad"}}'),
            (401, "bad", False, None),
        ),
        (
            [b"HTTP/1.1 429 No\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n"],
            (429, "", True, 7.0),
        ),
        (answer("502 Bad Gateway", b"<html>"), (502, "", True, None)),
        (
            chunked(encoded({"type": "error", "code": "rate_limit_exceeded", "message": "key-1"})),
            (429, "rate_limit_exceeded", True, None),
        ),
        (answer("200 OK", b"{"), (None, "", False, None)),
        (answer("200 OK", b"<html></html>", "text/html"), (None, "", False, None)),
        (
            answer("200 OK", json.dumps(response(status="in_progress")).encode()),
            (None, "", False, None),
        ),
    ],
)
async def test_a_failure_is_told_without_the_text_of_the_service(pieces, expected):
    failure = await failure_of(*pieces)

    told = (failure.status, failure.code, failure.is_transient, failure.retry_after)
    assert told == expected
    assert "key-1" not in str(failure)


async def test_an_answer_in_one_piece_is_read_at_once():
    whole = json.dumps(response(message("Hello"))).encode()

    async with service(answer("200 OK", whole)) as running:
        deltas = await ask(model_of(running))

    assert deltas == [
        TextDelta("Hello"),
        Usage(30, 12, cached=20, created=5, reasoning=8),
        Finish("stop"),
    ]


async def test_whoever_stops_listening_ends_the_question_at_once():
    async with service([CHUNKED, frame(BEGUN), HOLD]) as running:
        async with asyncio.timeout(60), aclosing(model_of(running).stream(QUESTION)) as batches:
            assert words(await anext(batches)) == "a"
        async with asyncio.timeout(60):
            await running.left.wait()


async def test_an_overloaded_service_is_asked_again_before_its_first_word_and_never_after_it():
    """T-57."""
    busy = chunked(encoded({"type": "error", "code": "server_error", "message": "m"}))
    async with service(busy, streamed(message("Late"))) as running:
        assembly = Assembly(lambda event: None)
        policy = replies.RetryPolicy(wait=lambda pause: asyncio.sleep(0))
        await policy.receive(model_of(running), QUESTION, assembly, "m")
    assert assembly.reply("m").message.text == "Late"

    late = chunked(BEGUN, encoded({"type": "error", "code": "server_error", "message": "m"}))
    async with service(late, streamed(message("Twice"))) as running:
        with pytest.raises(ModelFailed):
            await policy.receive(model_of(running), QUESTION, Assembly(lambda event: None), "m")
        assert len(running.requests) == 1


async def test_a_probe_tells_that_the_model_answers():
    async with service(streamed(message("ready")), answer("404 Not Found", b"{}")) as running:
        results = [await probe(model_of(running)) for _ in range(2)]

    assert [result.failed for result in results] == [None, "model"]
