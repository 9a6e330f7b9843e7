"""Properties of all APIs of model services."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest

from apps.agent.answers import replies
from apps.agent.events import TextDelta
from apps.agent.messages import ModelMessage
from apps.agent.model import Delta, Finish, Model, ModelRequest
from apps.errors import ModelFailed
from tests.contract import proves
from tests.tables import each_row
from tests.workspace.openai.service import (
    CHUNKED,
    CLOSE,
    ENDLESS,
    HOLD,
    LAST,
    RESET,
    UNTIL_CLOSE,
    Service,
    answer,
    chunked,
    frame,
    service,
)
from tests.workspace.services.wires import WIRES, Wire

QUESTION = ModelRequest((ModelMessage("user", "Hi"),))

pytestmark = [pytest.mark.parametrize("wire", WIRES, ids=str), pytest.mark.usefixtures("loopback")]


def model_of(wire: Wire, running: Service, **options: Any) -> Model:
    options = {"api_key": "key-1", "model": "m", "idle_seconds": 5.0, **options}
    return wire.make_model(base_url=running.url, **options)


async def ask(model: Model) -> list[Delta]:
    async with asyncio.timeout(60):
        return [delta async for batch in model.stream(QUESTION) for delta in batch]


def words(deltas: list[Delta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


async def failure_of(wire: Wire, *pieces: Any, **options: Any) -> ModelFailed:
    async with service(list(pieces)) as running:
        with pytest.raises(ModelFailed) as caught:
            await ask(model_of(wire, running, **options))
    return caught.value


@proves("T-50")
async def test_a_service_is_asked_with_its_key_at_its_address(wire, monkeypatch):
    for name in (
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_CUSTOM_HEADERS",
        "OPENAI_ORG_ID",
    ):
        monkeypatch.setenv(name, "x-other: secret-of-another")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    name, value = wire.key_header

    async with service(*[chunked(wire.finish, wire.done)] * 2) as running:
        await ask(model_of(wire, running))
        await ask(model_of(wire, running, api_key=""))

    (headers, body), (without_key, _) = running.requests
    assert (headers["target"], headers[name]) == (wire.target, value)
    assert (body["model"], body["stream"]) == ("m", True)
    assert name not in without_key
    assert "secret-of-another" not in f"{headers} {without_key}"


@proves("T-50")
async def test_an_answer_arrives_in_the_pieces_that_it_was_sent_in(wire):
    async with service(chunked(wire.text("Hel"), wire.text("lo"), wire.finish, wire.done)) as run:
        deltas = await ask(model_of(wire, run))

    texts = [delta.text for delta in deltas if isinstance(delta, TextDelta)]
    assert texts == ["Hel", "lo"]
    assert deltas[-1] == Finish("stop")


@each_row("size", [1, 2, 3, 7, 50])
@each_row("line_end", [b"\n", b"\r\n"])
async def test_an_answer_may_be_cut_anywhere(wire, size, line_end):
    events = [wire.text("Grüße 🎉 "), b": a comment\n\n", wire.text("日本"), wire.finish, wire.done]
    body = b"".join(events).replace(b"\n", line_end)
    frames = b"".join(frame(body[i : i + size]) for i in range(0, len(body), size)) + LAST
    whole = CHUNKED + frames
    pieces = [whole[i : i + size] for i in range(0, len(whole), size)]

    async with service(pieces) as running:
        deltas = await ask(model_of(wire, running))

    assert words(deltas) == "Grüße 🎉 日本"


async def test_events_that_are_not_known_are_skipped(wire):
    news = b'event: news\ndata: {"type":"news","index":{"a":[1]},"delta":null}\n\n'

    async with service(chunked(news, wire.text("a"), news, wire.finish, wire.done)) as running:
        assert words(await ask(model_of(wire, running))) == "a"


NEWS = b'data: {"type":"news","result":{"text":"Hello"}}\n\n'


@each_row(("news", "is_closed"), [((NEWS, NEWS), True), ((NEWS,), False), ((), True)])
async def test_an_answer_of_nothing_that_is_understood_is_no_empty_answer(wire, news, is_closed):
    last = (wire.done or NEWS) if is_closed else b": bye\n\n"

    failure = await failure_of(wire, *chunked(*news, last))

    assert (str(failure), failure.reason, failure.is_transient) == (
        "The model's service sent a stream without a readable response.",
        "unreadable",
        False,
    )


async def test_an_empty_answer_without_a_finish_reason_is_a_failure(wire):
    whole = wire.whole("")
    for reason in (b'"stop"', b'"end_turn"', b'"completed"'):
        whole = whole.replace(reason, b"null")
    answers = [answer("200 OK", whole)]
    if wire.done:
        answers.append(chunked(wire.begin, wire.begin, wire.done))

    failures = [await failure_of(wire, *one) for one in answers]

    assert {(str(one), one.reason, one.is_transient) for one in failures} == {
        (
            "The model's service sent an empty response without a finish reason.",
            "unreadable",
            False,
        )
    }


async def test_an_answer_of_nothing_counts_if_the_service_says_that_it_is_complete(wire):
    """Some models return an empty answer on purpose after a tool call."""
    async with service(chunked(wire.finish, wire.done)) as running:
        reply = await replies.ask_model(
            model_of(wire, running), QUESTION, lambda event: None, name="m"
        )

    assert (reply.message.text, reply.message.tool_calls, reply.finish_reason) == ("", (), "stop")


async def test_a_body_may_end_with_the_connection_or_have_a_length(wire):
    body = wire.text("a") + wire.finish + wire.done

    async with service([UNTIL_CLOSE, body, CLOSE]) as running:
        assert words(await ask(model_of(wire, running))) == "a"
    async with service(answer("200 OK", body, "text/event-stream")) as running:
        assert words(await ask(model_of(wire, running))) == "a"


REST = [
    [CLOSE],
    [RESET],
    [LAST],
    [frame(b"data: {nonsense\n\n"), LAST],
    [b"no chunk at all"],
    [frame(b'event: error\ndata: {"type":"error"}\n\n'), LAST],
    [HOLD],
    [frame(b": ping\n\n"), ENDLESS],
    [frame(b"data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" * 1000), ENDLESS],
]


@each_row("rest", REST)
@each_row("is_one_piece", [True, False])
async def test_an_answer_that_has_finished_is_complete_whatever_follows(wire, rest, is_one_piece):
    said = wire.text("a") + wire.finish
    if is_one_piece and isinstance(rest[0], bytes):
        pieces = [CHUNKED + frame(said) + rest[0], *rest]
    else:
        pieces = [CHUNKED, frame(said), *rest]

    async with service(pieces) as running, asyncio.timeout(60):
        model = model_of(wire, running, idle_seconds=0.3)
        reply = await replies.ask_model(model, QUESTION, lambda event: None, name="m")

    assert (reply.message.text, reply.finish_reason) == ("a", "stop")


@pytest.mark.parametrize("rest", [[LAST], [CLOSE]])
async def test_an_answer_that_breaks_off_is_a_failure(wire, rest):
    said: list[str] = []

    async with service([CHUNKED, frame(wire.text("a")), *rest]) as running:
        with pytest.raises(ModelFailed) as caught:
            async for batch in model_of(wire, running).stream(QUESTION):
                said.append(words(list(batch)))

    assert said == ["a"]
    assert (caught.value.reason, caught.value.status) == ("stream", None)


async def test_an_error_in_mid_stream_is_told_after_what_came_before_it(wire):
    said: list[str] = []

    async with service(chunked(wire.text("a") + wire.error(429) + wire.text("b"))) as running:
        with pytest.raises(ModelFailed) as caught:
            async for batch in model_of(wire, running).stream(QUESTION):
                said.append(words(list(batch)))

    failure = caught.value
    assert said == ["a"]
    assert (failure.reason, failure.status, failure.is_transient) == ("stream", 429, True)
    assert "key-1" not in str(failure)


@each_row(
    ("pieces", "transient", "seconds"),
    [
        ([b"HTTP/1.1 429 No\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n"], True, 7.0),
        ([b"HTTP/1.1 503 No\r\nretry-after: soon\r\ncontent-length: 0\r\n\r\n"], True, None),
        ([b"HTTP/1.1 529 No\r\nretry-after: 2\r\ncontent-length: 0\r\n\r\n"], True, 2.0),
        (answer("500 Oops", b""), True, None),
        (answer("501 Not Implemented", b""), False, None),
        (answer("400 Bad Request", b""), False, None),
        ([CLOSE], True, None),
        (answer("200 OK", b"{"), False, None),
        ([HOLD], False, None),
    ],
)
async def test_a_failure_says_whether_it_is_one_of_the_moment(wire, pieces, transient, seconds):
    idle = 0.1 if pieces == [HOLD] else 30.0
    failure = await failure_of(wire, *pieces, idle_seconds=idle)

    assert (failure.is_transient, failure.retry_after) == (transient, seconds)


@pytest.mark.parametrize(("status", "is_transient"), [(400, False), (429, True), (500, True)])
async def test_so_does_an_error_before_the_first_word(wire, status, is_transient):
    failure = await failure_of(wire, *chunked(wire.error(status)))

    assert (failure.status, failure.is_transient) == (status, is_transient)


async def test_what_is_not_understood_is_a_failure(wire):
    failures = [await failure_of(wire, *chunked(sent)) for sent in wire.nonsense]

    assert {failure.reason for failure in failures} == {"unreadable"}


@proves("T-50")
async def test_an_answer_in_one_piece_is_read_at_once(wire):
    said = [
        await ask_whole(wire, wire.whole("Grüße")),
        await ask_whole(wire, wire.whole("a@").replace(b"@", b"\\udc00")),
    ]

    assert said == ["Grüße", "a\ufffd"]


async def ask_whole(wire: Wire, body: bytes) -> str:
    async with service(answer("200 OK", body)) as running:
        deltas = await ask(model_of(wire, running))
    assert deltas[-1] == Finish("stop")
    return words(deltas)


@each_row("body", [b"{", b"{}", b"null", b"[1]", b"[" * 100_000])
async def test_an_answer_in_one_piece_that_is_no_answer_is_a_failure(wire, body):
    assert (await failure_of(wire, *answer("200 OK", body))).reason == "unreadable"


async def test_a_web_page_is_not_taken_for_an_answer(wire):
    page = answer("200 OK", b"<html></html>", "text/html")

    failure = await failure_of(wire, *page)

    assert (str(failure), failure.reason) == (
        "The model's service sent a web page. Check its URL.",
        "unreadable",
    )


async def test_a_service_that_says_nothing_is_left(wire):
    async with service([HOLD]) as running:
        with pytest.raises(ModelFailed) as caught:
            await ask(model_of(wire, running, idle_seconds=0.05))
        async with asyncio.timeout(60):
            await running.left.wait()

    assert caught.value.reason == "timeout"


async def test_a_service_that_falls_silent_is_left(wire):
    failure = await failure_of(wire, CHUNKED, frame(wire.text("a")), HOLD, idle_seconds=0.05)

    assert failure.reason == "timeout"


@pytest.mark.parametrize("base_url", ["http://[", "ftp://example.com", "", "no address"])
async def test_an_address_that_is_none_is_a_failure(wire, base_url):
    with pytest.raises(ModelFailed) as caught:
        await ask(wire.make_model(base_url=base_url, api_key="k", model="m"))

    assert caught.value.reason == "connection"


async def test_a_listener_who_leaves_ends_the_question_at_once(wire):
    async with service([CHUNKED, frame(wire.text("a")), HOLD]) as running:
        stream = model_of(wire, running).stream(QUESTION)
        async with asyncio.timeout(60), aclosing(stream) as batches:
            assert words(list(await anext(batches))) == "a"
        async with asyncio.timeout(60):
            await running.left.wait()


@each_row("is_streamed", [False, True])
async def test_the_services_own_message_is_kept_for_operators_without_the_key(wire, is_streamed):
    key = "a-key-of-the-service"
    error = {"type": "invalid_request_error", "code": "bad", "message": f"Bad\nkey {key}."}
    body = json.dumps({"type": "error", "error": error}).encode()
    reply = (
        chunked(b"event: error\ndata: " + body + b"\n\n")
        if is_streamed
        else answer("400 Bad Request", body)
    )

    failure = await failure_of(wire, *reply, api_key=key)

    assert failure.said == "Bad key …."
    assert key not in f"{failure} {failure.display}"


HALF = "\u00a7"
"""Marks the position in a text at which a character is split."""


@each_row(
    ("first", "second"),
    [
        (rb"\ud83d", rb"\ude00"),
        (b"\xf0", b"\x9f\x98\x80"),
        (b"\xf0\x9f", b"\x98\x80"),
        (b"\xf0\x9f\x98", b"\x80"),
    ],
)
async def test_a_character_that_is_cut_between_two_events_is_whole(wire, first, second):
    mark = json.dumps(HALF).encode()[1:-1]
    cut = [
        wire.text(text).replace(HALF.encode(), half).replace(mark, half)
        for text, half in ((f"Hi {HALF}", first), (f"{HALF} there", second))
    ]

    async with service(chunked(*cut, wire.finish, wire.done)) as running:
        deltas = await ask(model_of(wire, running))

    assert words(deltas) == "Hi 😀 there"


@pytest.mark.parametrize("odd", [b"\xef\xbb\xbf", b": hi\r\n\r\n", b"retry: 5\n\n", b"data:\n\n"])
async def test_what_servers_put_around_events_changes_nothing(wire, odd):
    text = wire.text("Hi").replace(b"data: ", b"data:")

    async with service(chunked(odd + text, wire.finish, wire.done)) as running:
        assert words(await ask(model_of(wire, running))) == "Hi"


def listed(*events: bytes) -> bytes:
    """Return the events as one JSON list."""
    payloads = (line[5:].strip() for one in events for line in one.split(b"\n"))
    return b"data: [" + b",".join(one for one in payloads if one.startswith(b"{")) + b"]\n\n"


@each_row(
    "word",
    [
        b"data: ping\n\n",
        b"data:keep-alive\n\n",
        b'data: "heartbeat"\n\n',
        b"event: ping\ndata: ping\n\n",
        b"data: null\n\n",
        b"data: []\n\n",
    ],
)
async def test_words_that_keep_a_stream_alive_are_skipped(wire, word):
    sent = (word, word + wire.text("Hi"), word, wire.text(" there"), word + wire.finish, wire.done)

    async with service(chunked(*sent)) as running:
        assert words(await ask(model_of(wire, running))) == "Hi there"


async def test_any_words_are_skipped_before_an_answer(wire):
    sent = (b"data: your place in the queue is 7\n\n", b"data: 6\n\n", wire.text("Hi"))

    async with service(chunked(*sent, wire.finish, wire.done)) as running:
        assert words(await ask(model_of(wire, running))) == "Hi"


async def test_words_in_the_event_of_an_answer_take_nothing_away(wire):
    text = wire.text("Hi").replace(b"data: ", b"data: ping\ndata: ")

    async with service(chunked(text, wire.finish, wire.done)) as running:
        assert words(await ask(model_of(wire, running))) == "Hi"


@each_row("before", [b"data: ", b"data:data: ", b"data: \xef\xbb\xbf", b"data:  "])
async def test_what_stands_before_the_json_of_an_event_takes_nothing_away(wire, before):
    text = wire.text("Hi").replace(b"data: ", before)

    async with service(chunked(text, wire.finish, wire.done)) as running:
        assert words(await ask(model_of(wire, running))) == "Hi"


async def test_several_events_may_come_as_one_list(wire):
    both = listed(wire.text("Hi"), wire.text(" there 😀"))

    async with service(chunked(both, listed(wire.finish), wire.done)) as running:
        assert words(await ask(model_of(wire, running))) == "Hi there 😀"
    async with service(chunked(listed(wire.text("Hi"), wire.finish), wire.done)) as running:
        assert words(await ask(model_of(wire, running))) == "Hi"


async def test_a_list_may_have_the_end_of_the_stream(wire):
    both = listed(wire.text("Hi"), wire.finish, wire.done).replace(b"]\n\n", b',"[DONE]"]\n\n')

    async with service(chunked(both, wire.done)) as running:
        assert words(await ask(model_of(wire, running))) == "Hi"


@each_row("word", [b"data: upstream connect error\n\n", b"event: error\ndata: overloaded\n\n"])
async def test_an_answer_that_ends_in_words_is_a_failure(wire, word):
    for before in (b"", wire.text("Hi")):
        await failure_of(wire, chunked(before + word, b"data: [DONE]\n\n"))
