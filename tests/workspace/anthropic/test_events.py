from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from apps.agent.events import RefusalDelta, TextDelta, Usage
from apps.agent.messages import ModelMessage
from apps.agent.model import (
    Delta,
    Finish,
    ModelRequest,
    ReasoningDelta,
    ThoughtPart,
    ToolCallDelta,
    UntrustedRead,
)
from apps.workspace.anthropic import events
from apps.workspace.anthropic.events import MessageEvents
from apps.workspace.anthropic.kept_blocks import PART
from apps.workspace.anthropic.model import make_anthropic_model
from apps.workspace.services.event_stream import EventDecoder
from tests.contract import proves
from tests.tables import each_row
from tests.workspace.anthropic import wire
from tests.workspace.openai.service import chunked, service

SEARCH = {
    "type": "server_tool_use",
    "id": "srvtoolu_1",
    "name": "web_search",
    "input": {},
}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [{"type": "web_search_result", "url": "https://a", "encrypted_content": "x"}],
}
SEARCHED = (
    wire.begin(SEARCH)
    + wire.piece("input_json_delta", partial_json='{"query":"a"}')
    + wire.end()
    + wire.begin(FOUND, 1)
    + wire.end(1)
)
REDACTED = {"type": "redacted_thinking", "data": "ZW5j"}
ANSWER = (
    wire.start(cache_read_input_tokens=3, cache_creation_input_tokens=2)
    + wire.PING
    + wire.thought_block("Hm", "m é.", signature="c2ln")
    + wire.begin(REDACTED, 1)
    + wire.end(1)
    + wire.text_block("I lo", "ok 🎉.", index=2)
    + wire.piece("citations_delta", 2, citation={"type": "page_location"})
    + wire.call_block("toolu_1", "look", '{"a"', ': "é"}', index=3)
    + wire.call_block("toolu_2", "rest", index=4)
    + wire.event("content_block_delta", index=4, delta={"type": "news_delta", "news": 1})
    + wire.finish("tool_use", output_tokens_details={"thinking_tokens": 4})
    + wire.DONE
)
BLOCKS = [
    {"type": "thinking", "thinking": "Hmm é.", "signature": "c2ln"},
    REDACTED,
    {"type": "text", "length": 9},
    {"type": "tool_use"},
    {"type": "tool_use"},
]
END = [
    Usage(15, 5, cached=3, created=2, reasoning=4),
    ThoughtPart(PART, msgspec.json.encode(BLOCKS).decode()),
    Finish("tool_calls"),
]


def decode(*pieces: bytes) -> list[Delta]:
    decoder = EventDecoder(MessageEvents())
    deltas = [delta for piece in pieces for delta in decoder.feed(piece)]
    assert decoder.failure is None
    return [*deltas, *decoder.end()]


@proves("T-53")
def test_thoughts_texts_calls_and_counts_are_read():
    deltas = decode(ANSWER)

    assert deltas == [
        Usage(15, 1, cached=3, created=2),
        ReasoningDelta("Hm", "thinking"),
        ReasoningDelta("m é.", "thinking"),
        TextDelta("I lo"),
        TextDelta("ok 🎉."),
        ToolCallDelta(3, "toolu_1", "look"),
        ToolCallDelta(3, arguments='{"a"'),
        ToolCallDelta(3, arguments=': "é"}'),
        ToolCallDelta(4, "toolu_2", "rest"),
        *END,
    ]


def test_where_reads_are_cut_changes_nothing():
    whole = decode(ANSWER)

    assert all(decode(ANSWER[:at], ANSWER[at:]) == whole for at in range(len(ANSWER)))


def test_an_answer_in_one_piece_says_the_same():
    usage = {
        "input_tokens": 10,
        "output_tokens": 5,
        "cache_read_input_tokens": 3,
        "cache_creation_input_tokens": 2,
        "output_tokens_details": {"thinking_tokens": 4},
    }
    content = [
        BLOCKS[0],
        REDACTED,
        {"type": "text", "text": "I look 🎉."},
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"a": "é"}},
        {"type": "tool_use", "id": "toolu_2", "name": "rest", "input": {}},
    ]
    whole = {"type": "message", "content": content, "stop_reason": "tool_use", "usage": usage}

    deltas = MessageEvents().read_whole(json.dumps(whole).encode())

    assert deltas == [
        END[0],
        ReasoningDelta("Hmm é.", "thinking"),
        TextDelta("I look 🎉."),
        ToolCallDelta(3, "toolu_1", "look"),
        ToolCallDelta(3, arguments='{"a":"é"}'),
        ToolCallDelta(4, "toolu_2", "rest"),
        *END,
    ]


LOOK = {"type": "tool_use", "id": "a", "name": "look"}
GIVEN = '{"a": 1}'


def input_piece(written: str) -> bytes:
    return wire.piece("input_json_delta", partial_json=written)


@each_row(
    ("call", "expected"),
    [
        (
            wire.begin({**LOOK, "input": {"a": 1}}) + wire.end(),
            [ToolCallDelta(0, "a", "look"), ToolCallDelta(0, arguments='{"a":1}')],
        ),
        (
            wire.begin({**LOOK, "input": {"a": 1}}),  # without an end
            [ToolCallDelta(0, "a", "look"), ToolCallDelta(0, arguments='{"a":1}')],
        ),
        (
            wire.begin({**LOOK, "input": {"a": 1}}) + input_piece(GIVEN) + wire.end(),
            [ToolCallDelta(0, "a", "look"), ToolCallDelta(0, arguments=GIVEN)],
        ),
        (
            wire.begin({"type": "tool_use", "name": "look", "input": {}}) + input_piece(GIVEN),
            [ToolCallDelta(0, "", "look"), ToolCallDelta(0, arguments=GIVEN)],
        ),
        (
            wire.begin({**LOOK, "id": None, "name": None}) + input_piece(GIVEN),
            [ToolCallDelta(0), ToolCallDelta(0, arguments=GIVEN)],
        ),
        (
            wire.begin({**LOOK, "id": 7}) + input_piece(GIVEN),
            [ToolCallDelta(0, "7", "look"), ToolCallDelta(0, arguments=GIVEN)],
        ),
    ],
)
def test_a_block_is_one_call_however_it_is_written(call: bytes, expected: list[Delta]):
    deltas = decode(wire.start() + call + wire.finish("tool_use") + wire.DONE)

    assert [delta for delta in deltas if isinstance(delta, ToolCallDelta)] == expected


def test_an_answer_that_calls_a_tool_is_not_resumed():
    call = wire.call_block("a", "look", GIVEN)

    assert decode(wire.start() + call + wire.finish("pause_turn") + wire.DONE) == [
        Usage(10, 1),
        ToolCallDelta(0, "a", "look"),
        ToolCallDelta(0, arguments=GIVEN),
        Usage(10, 5),
        Finish("tool_calls"),
    ]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("tool_use", "tool_calls"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
        ("something_new", "stop"),
    ],
)
def test_reasons_to_stop_have_our_names(reason, expected):
    deltas = decode(wire.text_block("a") + wire.finish(reason))

    assert deltas[-1] == Finish(expected)


def test_the_reason_that_the_service_failed_is_a_failure():
    decoder = EventDecoder(MessageEvents())

    deltas = decoder.feed(wire.text_block("a") + wire.finish("error"))

    assert [delta.text for delta in deltas if isinstance(delta, TextDelta)] == ["a"]
    assert (str(decoder.failure), decoder.reader.has_finished) == (
        "The model's service ended the response with the finish reason error.",
        False,
    )


def test_a_refusal_without_a_word_is_explained():
    details = {"type": "refusal", "category": "bio", "explanation": "I may not."}
    refused = wire.event("message_delta", delta={"stop_reason": "refusal", "stop_details": details})

    assert decode(refused) == [RefusalDelta("I may not."), Finish("content_filter")]


@proves("T-53")
def test_counts_that_the_service_does_not_tell_are_not_made_up():
    delta = {"stop_reason": "end_turn"}

    assert decode(wire.event("message_delta", delta=delta)) == [Finish("stop")]
    assert decode(wire.start() + wire.finish())[0] == Usage(10, 5)


@proves("T-57")
@pytest.mark.parametrize("kind", ["overloaded_error", "rate_limit_error", "api_error"])
def test_an_error_before_the_first_block_leaves_nothing_behind_so_it_may_be_asked_again(kind):
    decoder = EventDecoder(MessageEvents())

    deltas = decoder.feed(wire.start() + wire.PING + wire.error(kind))

    assert deltas == []
    assert decoder.failure is not None
    assert (decoder.failure.kind, decoder.failure.is_transient) == (kind, True)


@pytest.mark.parametrize(
    "block", [{"type": "text"}, {"type": "thinking", "thinking": None}, {"type": 5}, {}]
)
def test_blocks_that_begin_without_what_belongs_to_them_are_read(block):
    call = wire.call_block("toolu_1", "look", "nonsense", index=1)

    deltas = decode(
        wire.begin(block) + wire.text("a") + wire.end() + call + wire.finish("tool_use")
    )

    assert deltas[0] == TextDelta("a")
    assert deltas[-1] == Finish("tool_calls")


# --- Paused answers ----------------------------------------------------------------------------


async def ask(settings: Any, *answers: bytes) -> tuple[list[Delta], list[dict[str, Any]]]:
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    async with service(*(chunked(one) for one in answers)) as running:
        model = make_anthropic_model(base_url=running.url, api_key="k", model="m")
        request = ModelRequest((ModelMessage("user", "Hi"),))
        deltas = [delta async for batch in model.stream(request) for delta in batch]
    return deltas, [body for _, body in running.requests]


async def test_a_paused_answer_goes_on_with_what_came(settings):
    first = wire.start() + SEARCHED + wire.finish("pause_turn") + wire.DONE
    second = (
        wire.start(input_tokens=20)
        + wire.text_block("Found.")
        + wire.call_block("toolu_1", "look", index=1)
        + wire.finish("tool_use")
        + wire.DONE
    )

    deltas, (asked, again) = await ask(settings, first, second)

    came = [{**SEARCH, "input": {"query": "a"}}, FOUND]
    assert again["messages"] == [
        {"role": "user", "content": [{**asked["messages"][0]["content"][0], **CACHED}]},
        {"role": "assistant", "content": came},
    ]
    assert UntrustedRead("a web search") in deltas
    assert deltas[-1] == Finish("tool_calls")
    assert deltas[-3:-1] == [
        Usage(30, 10),
        ThoughtPart(
            PART,
            msgspec.json.encode(
                [*came, {"type": "text", "length": 6}, {"type": "tool_use"}]
            ).decode(),
        ),
    ]
    assert [delta for delta in deltas if isinstance(delta, ToolCallDelta)] == [
        ToolCallDelta(3, "toolu_1", "look")
    ]


CACHED = {"cache_control": {"type": "ephemeral"}}


async def test_an_answer_that_is_paused_for_ever_is_cut(settings, monkeypatch):
    monkeypatch.setattr(events, "MOST_PAUSES", 2)
    paused = wire.text_block("a") + wire.finish("pause_turn") + wire.DONE

    deltas, asked = await ask(settings, paused, paused, paused, paused)

    assert (len(asked), deltas[-1]) == (3, Finish("length"))
