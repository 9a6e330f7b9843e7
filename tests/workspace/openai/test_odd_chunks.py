"""Answers of services that deviate from OpenAI's API."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.agent.answers.assembly import Assembly
from apps.agent.events import Event, TextDelta, Usage
from apps.agent.messages import ToolCall
from apps.agent.model import Delta, Finish, ReasoningDelta
from apps.errors import ModelFailed
from apps.workspace.openai.completions import read_completion
from apps.workspace.openai.events import CompletionEvents
from apps.workspace.services.event_stream import EventDecoder
from tests.tables import each_row

END = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def chunk(delta: Any, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}], **more}


def ended(text: str, reason: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": reason}]}


def content(*contents: Any) -> list[Any]:
    return [*(chunk({"content": one}) for one in contents), END]


def calls(*deltas: Any) -> list[Any]:
    return [*(chunk({"tool_calls": one}) for one in deltas), END]


def events(chunks: Sequence[Any]) -> bytes:
    lines = (one if isinstance(one, bytes) else json.dumps(one).encode() for one in chunks)
    return b"".join(b"data: %b\n\n" % line for line in [*lines, b"[DONE]"])


def decoded(chunks: Sequence[Any], size: int = 0, opening_tag: str = "") -> list[Delta]:
    decoder, data = EventDecoder(CompletionEvents(opening_tag)), events(chunks)
    size = size or len(data)
    deltas = [d for at in range(0, len(data), size) for d in decoder.feed(data[at : at + size])]
    deltas += decoder.end()
    if decoder.failure is not None:
        raise decoder.failure
    assert decoder.reader.has_finished
    return deltas


def read(chunks: Sequence[Any], opening_tag: str = "") -> tuple[str, str, list[ToolCall]]:
    """Return the text, the reasoning and the calls of an answer, however its bytes are split."""
    found = []
    for size in (0, 1):
        assembly = Assembly(ignore)
        thoughts = ""
        for delta in decoded(chunks, size, opening_tag):
            thoughts += delta.text if isinstance(delta, ReasoningDelta) else ""
            assembly.feed(delta)
        message = assembly.reply("m").message
        named = (replace(one, id=one.id[:5]) for one in message.tool_calls)  # others are random
        found.append((message.text, thoughts, list(named)))
    assert found[0] == found[1]
    return found[0]


def ignore(event: Event) -> None: ...


@each_row(
    ("contents", "text", "thought"),
    [
        (["", [{"type": "text", "text": "Hel"}], "lo"], "Hello", ""),
        ([[{"type": "thinking", "thinking": [{"type": "text", "text": "Hmm."}]}], "Hello"], "Hello", "Hmm."),
        ([[{"type": "thinking", "thinking": "Hmm."}, {"type": "text", "text": "Hello"}]], "Hello", "Hmm."),
        ([[{"type": "reasoning", "text": "Hmm."}], [{"type": "output_text", "text": "Hello"}]], "Hello", "Hmm."),
        ([{"type": "text", "text": "Hel"}, {"text": "lo"}], "Hello", ""),
        ([["Hel", "lo"]], "Hello", ""),
        ([[{"type": "text", "text": {"value": "Hello", "annotations": []}}]], "Hello", ""),
        ([[{"type": "text", "text": None}], None, [], [None], "Hello"], "Hello", ""),
        ([[{"type": "picture", "url": "https://a.b/c"}, {"type": "text", "text": "Hello"}]], "Hello", ""),
        ([4, 2], "42", ""),
    ],
)  # fmt: skip
def test_content_in_parts_is_text_and_thoughts(contents: list[Any], text: str, thought: str):
    assert read(content(*contents)) == (text, thought, [])


OSLO = '{"city": "Oslo"}'
CALL = ToolCall("7", "weather", OSLO)


@each_row(
    "deltas",
    [
        [[{"index": 0, "id": 7, "function": {"name": "weather", "arguments": OSLO}}]],
        [[{"index": "0", "id": "7", "function": {"name": "weather", "arguments": OSLO}}]],
        [[{"index": None, "id": "7", "function": {"name": "weather", "arguments": OSLO}}]],
        [[{"index": 0.0, "id": "7", "function": {"name": "weather", "arguments": {"city": "Oslo"}}}]],
        [[{"index": 0, "id": "7", "function": {"name": "weather", "arguments": [{"city": "Oslo"}]}}]],
        [[{"id": "7", "name": "weather", "arguments": OSLO}]],
        [{"index": 0, "id": "7", "function": {"name": "weather", "arguments": OSLO}}],
        [{"0": {"id": "7", "function": {"name": "weather", "arguments": OSLO}}}],
        [[None, {"id": "7", "function": {"name": "weather", "arguments": OSLO}}]],
        [
            [{"index": 0, "id": 7, "function": {"name": "weather", "arguments": '{"city"'}}],
            [{"index": 0, "id": None, "function": {"name": None, "arguments": ': "Oslo"}'}}],
        ],
    ],
)  # fmt: skip
def test_a_call_is_read_however_its_service_writes_it(deltas: list[Any]):
    (text, thought, found) = read(calls(*deltas))

    assert (text, thought) == ("", "")
    assert [(one.id, one.name, json.loads(one.arguments)) for one in found] == [
        ("7", "weather", {"city": "Oslo"})
    ]


def test_a_call_in_the_old_form_is_a_call():
    old = [chunk({"function_call": {"name": "weather", "arguments": OSLO[:4]}})]
    more = [chunk({"function_call": {"arguments": OSLO[4:]}}), END]

    (_, _, found) = read([*old, *more])

    assert [(one.name, one.arguments) for one in found] == [("weather", OSLO)]


@each_row(
    ("chunks", "text"),
    [
        ([{"choices": [{"index": 0, "message": {"content": "Hello"}, "finish_reason": "stop"}]}], "Hello"),
        ([*content("Hello")[:-1], {"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}], "Hello"),
        ([{"choices": [{"index": 0, "text": "Hello", "finish_reason": "stop"}]}], "Hello"),
        ([{"choices": [{"delta": {}, "message": {"content": "Hello"}, "finish_reason": "stop"}]}], "Hello"),
        ([{"choices": [{"delta": {"content": ""}, "message": {"content": "Hello"}, "finish_reason": "stop"}]}], "Hello"),
        ([{"choices": [{"delta": {"role": "assistant", "content": None}, "message": {"content": "Hello"}, "finish_reason": "stop"}]}], "Hello"),
        ([{"choices": [{"delta": None, "message": {"content": "Hello"}, "finish_reason": "stop"}]}], "Hello"),
        ([*content("Hel", "lo")[:-1], {"choices": [{"delta": {}, "message": {"content": "Hello"}, "finish_reason": "stop"}]}], "Hello"),
        ([*content([{"type": "text", "text": "Hello"}])[:-1], {"choices": [{"delta": {}, "message": {"content": "Hello"}, "finish_reason": "stop"}]}], "Hello"),
        ([chunk({"reasoning": "Hmm."}), {"choices": [{"delta": {}, "message": {"content": "Hello"}, "finish_reason": "stop"}]}], "Hello"),
        ([{"choices": {"index": 0, "delta": {"content": "Hello"}}}, END], "Hello"),
        ([[chunk({"content": "Hello"})], END], "Hello"),
        ([chunk("Hello"), END], "Hello"),
        ([{"choices": None}, {"choices": [{"index": 0, "delta": None}]}, *content("Hello")], "Hello"),
        ([chunk({"content": "Hel"}, usage={"prompt_tokens": "x"}), *content("lo")], "Hello"),
        (
            [
                chunk({"content": "Hel"}),
                b'{"choices":[],"usage":{"prompt_tokens":' + b"9" * 5_000 + b"}}",
                *content("lo"),
            ],
            "Hello",
        ),
        ([b'{"choices":[{"delta":{"content":"Hello"},"logprobs":NaN}]}', END], "Hello"),
        ([b'{"choices":[{"delta":{"content":"Hel"}}]}\ndata: {"choices":[{"delta":{"content":"lo"}}]}', END], "Hello"),
        ([chunk({"content": "Hello", "custom_content": {"state": 5}}), END], "Hello"),
        ([ended("Hel", ""), ended("lo", ""), END], "Hello"),
        ([chunk({"content": "Hello"}), ended("", "stop"), END], "Hello"),
        ([ended("Hel", "stop"), chunk({"content": "lo"}), END], "Hello"),
    ],
)  # fmt: skip
def test_text_is_read_wherever_it_is(chunks: list[Any], text: str):
    assert read(chunks)[0] == text


@each_row(
    ("deltas", "thought"),
    [
        ([{"reasoning_details": [{"type": "reasoning.text", "text": "Hmm."}]}], "Hmm."),
        ([{"reasoning_details": [{"type": "reasoning.summary", "summary": "Hmm."}]}], "Hmm."),
        ([{"reasoning_details": [{"text": "Hm"}, {"data": "x"}, None, {"text": "m."}]}], "Hmm."),
        ([{"reasoning": "", "reasoning_details": [{"text": "Hmm."}]}], "Hmm."),
        (
            [{"reasoning_details": [{"text": "Hm"}]}, {"reasoning_details": [{"text": "m."}]}],
            "Hmm.",
        ),
        ([{"content": [], "reasoning_details": [{"text": "Hmm."}]}], "Hmm."),
        ([{"reasoning": "Hmm.", "reasoning_details": [{"text": "Hmm."}]}], "Hmm."),
        ([{"reasoning_details": {"text": ["Hmm."]}}], ""),
        ([{"reasoning_details": [{"text": 5}]}], ""),
    ],
)
def test_reasoning_details_are_a_thought_if_there_is_no_other(deltas: list[Any], thought: str):
    thoughts = [chunk({"content": None, **one}) for one in deltas]

    assert read([*thoughts, *content("Hello")]) == ("Hello", thought, [])


EMPTY_ERRORS = [{}, "", " ", False, 0, [], [{}], {"code": 0, "message": ""}, {"code": None}]


@pytest.mark.parametrize("error", EMPTY_ERRORS)
def test_an_empty_error_is_none(error: Any):
    beside = chunk({"content": "Hello"}, error=error)
    within = {"choices": [{"delta": {"content": "Hello"}, "error": error}]}
    whole = {"choices": [{"message": {"content": "Hello"}, "error": error}], "error": error}

    assert [read([one, END])[0] for one in (beside, within)] == ["Hello", "Hello"]
    assert read_completion(json.dumps(whole).encode()) == [TextDelta("Hello")]


@each_row(
    ("sent", "said"),
    [
        (json.dumps(chunk({"content": "s3cret"}, error={"code": 5})), ""),
        (json.dumps(chunk({"content": "s3cret"}, error={"message": "Full."})), "Full."),
        (json.dumps(chunk({"content": "s3cret"})) + '\ndata: {"error": {"message": "Full."}}', "Full."),
        (json.dumps({"choices": [{"delta": {"content": "s3cret"}, "error": {"code": 5}}]}), ""),
    ],
)  # fmt: skip
def test_an_error_next_to_text_says_nothing_of_it(sent: str, said: str):
    with pytest.raises(ModelFailed) as raised:
        decoded([sent.encode()])

    assert (raised.value.reason, raised.value.said) == ("stream", said)


@pytest.mark.parametrize("wrap", ["%s", "[%s]"])
def test_an_event_named_error_says_nothing_of_the_text(wrap: str):
    decoder = EventDecoder(CompletionEvents())

    decoder.feed(
        b"event: error\ndata: %b\n\n" % (wrap % json.dumps(chunk({"content": "s3"}))).encode()
    )

    assert decoder.failure is not None
    assert decoder.failure.said == ""


def test_the_first_choice_is_the_answer():
    def said(index: int, text: str) -> dict[str, Any]:
        return {"index": index, "delta": {"content": text}}

    both = [
        {"choices": [said(0, "Hel"), said(1, "Good")]},
        {"choices": [said(1, " day"), said(0, "lo")]},
    ]
    last = {"choices": [{"index": 1, "delta": {}, "finish_reason": "length"}]}

    assert decoded([*both, last, END]) == [TextDelta("Hel"), TextDelta("lo"), Finish("stop")]


HMM = ("Hello", "Hmm.")


@each_row(
    ("texts", "expected"),
    [
        (["<think>\nHmm.\n</think>\n\nHello"], HMM),
        (["<", "thi", "nk>", "\n", "Hm", "m.", "\n", "</th", "ink>", "\n\n", "Hello"], HMM),
        (["\n\n<THINK>Hmm.</Think>Hello"], HMM),
        (["<thinking>Hmm.</thinking>", "Hello"], HMM),
        (["[THINK]Hmm.[/THINK]Hello"], HMM),
        (["<|START_THINKING|>Hmm.<|END_THINKING|>Hello"], HMM),
        (["<think></think>\n\nHello"], ("Hello", "")),
        (["<think>Hm</think><think>m.</think>Hello"], HMM),
        (["<think>a < b </thi b.</think>Hello"], ("Hello", "a < b </thi b.")),
        # text
        (["Hello <think>Hmm.</think>"], ("Hello <think>Hmm.</think>", "")),
        (["`<think>` is a tag"], ("`<think>` is a tag", "")),
        (["<table>", "</table>"], ("<table></table>", "")),
        (["<thi"], ("<thi", "")),
        (["\n", " Hello"], ("\n Hello", "")),
        (["<think>Hello"], ("Hello", "Hello")),  # it was not reasoning, or there is no answer
    ],
)
def test_thoughts_between_tags_are_thoughts(texts: list[str], expected: tuple[str, str]):
    assert read(content(*texts))[:2] == expected


def test_a_thought_that_is_cut_is_no_answer():
    cut = {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}

    assert read([*content("<think>Hmm")[:-1], cut])[:2] == ("", "Hmm")


def test_thoughts_between_tags_are_shown_before_a_call():
    call = {"index": 0, "id": "7", "function": {"name": "weather", "arguments": OSLO}}

    found = read([chunk({"content": "<think>Hmm.</think>\n"}), *calls([call])])

    assert found == ("", "Hmm.", [CALL])


@each_row(
    ("texts", "expected"),
    [
        (["Hmm.\n</think>\n\nHello"], HMM),
        (["Hm", "m.", "</th", "ink>", "\n\nHello"], HMM),
        (["<th", "ink>\nHmm.", "</think>Hello"], HMM),
        (["</think>", "Hello"], ("Hello", "")),
        (["Hello"], ("Hello", "Hello")),  # it did not reason
        (["<"], ("<", "<")),
    ],
)
def test_a_thought_that_the_prompt_opens_is_a_thought(texts: list[str], expected: tuple[str, str]):
    assert read(content(*texts), opening_tag="<think>")[:2] == expected


def test_a_service_that_parts_thoughts_itself_may_be_told_that_the_prompt_opens_one():
    chunks = [chunk({"reasoning_content": "Hmm."}), *content("Hel", "lo")]

    assert read(chunks, opening_tag="<think>")[:2] == HMM


@pytest.mark.parametrize("said", ["<think>Hmm.</think>Hello", "Hmm.\n</think>\n\nHello"])
def test_a_whole_answer_has_thoughts_between_tags_too(said: str):
    whole = {"choices": [{"message": {"content": said}, "finish_reason": "stop"}]}

    assert read_completion(json.dumps(whole).encode()) == [
        ReasoningDelta("Hmm.", ""),
        TextDelta("Hello"),
        Finish("stop"),
    ]


def test_a_whole_answer_may_have_parts_and_objects():
    call = {"id": 7, "function": {"name": "weather", "arguments": {"city": "Oslo"}}}
    message = {"content": [{"type": "text", "text": "Hello"}], "tool_calls": [call, call]}
    whole = {"choices": [{"message": message, "finish_reason": "eos"}]}

    deltas = read_completion(json.dumps(whole).encode())

    assert [type(delta).__name__ for delta in deltas] == [
        "TextDelta",
        "ToolCallDelta",
        "ToolCallDelta",
        "Finish",
    ]


SMILE = "\\ud83d", "\\ude00"


@each_row(
    ("texts", "expected"),
    [
        (["Hi ", *SMILE, " there"], "Hi 😀 there"),
        (["Hi " + SMILE[0], SMILE[1] + " there"], "Hi 😀 there"),
        (["\\uD83D", "\\uDE00" * 2], "😀\ufffd"),
        (["".join(SMILE), SMILE[0]], "😀\ufffd"),
        ([SMILE[0], "a", "b"], "\ufffdab"),
        ([SMILE[1], "a"], "\ufffda"),
        (["\\ud83d", "\\udc80!"], "💀!"),
        ([b"\xf0\x9f", b"\x98\x80!"], "😀!"),
        ([b"\xc3", b"\xa9"], "é"),
        ([b"\xff", "a"], "\ufffda"),
    ],
)
def test_a_character_that_is_cut_in_two_is_whole(texts: list[str | bytes], expected: str):
    written = [text.encode() if isinstance(text, str) else text for text in texts]
    chunks = [b'{"choices":[{"index":0,"delta":{"content":"%b"}}]}' % text for text in written]
    thoughts = [one.replace(b"content", b"reasoning") for one in chunks]

    assert read([*chunks, END])[0] == expected
    assert read([*thoughts, END])[1].rstrip("\ufffd") == expected.rstrip("\ufffd")


def test_a_character_that_is_cut_in_arguments_is_whole():
    first, second = (
        b'{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"say","arguments":"%b"}}]}}]}'
        % piece
        for piece in (rb"{\"word\": \"\ud83d", rb"\ude00\"}")
    )

    ((call,)) = read([first, second, END])[2]

    assert json.loads(call.arguments) == {"word": "😀"}


@each_row(
    ("written", "expected"),
    [
        ({"prompt_tokens": 5, "completion_tokens": None}, Usage(5, 0)),
        ({"prompt_tokens": 5.0, "completion_tokens": 6.5}, Usage(5, 6)),
        ({"prompt_tokens": "5", "completion_tokens": "6"}, Usage(5, 6)),
        ({"prompt_tokens": -5, "completion_tokens": 1e300}, Usage(0, 0)),
    ],
)
def test_counts_of_tokens_are_whole_numbers(written: dict[str, Any], expected: Usage):
    deltas = decoded([*content("Hello"), {"choices": [], "usage": written}])

    assert deltas == [TextDelta("Hello"), Finish("stop"), expected]


@each_row(
    ("written", "expected"),
    [
        ("stop", "stop"),
        ("STOP", "stop"),
        ("end_turn", "stop"),
        ("eos", "stop"),
        ("MAX_TOKENS", "length"),
        ("FINISH_REASON_MAX_TOKENS", "length"),
        ("model_length", "length"),
        ("tool_use", "tool_calls"),
        ("tool-calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("SAFETY", "content_filter"),
        ({"type": "length"}, "length"),
        ("sunset", "stop"),
    ],
)
def test_the_finish_reason_is_one_of_the_apis(written: Any, expected: str):
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": written}]}

    assert decoded([last]) == [Finish(expected)]


def test_an_unknown_finish_reason_is_logged_once(caplog: pytest.LogCaptureFixture):
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "sunset"}]}

    for _ in range(3):
        decoded([last])

    assert [record.getMessage() for record in caplog.records] == [
        "A model's service ended a response with an unknown finish reason: sunset"
    ]


@each_row(
    ("delta", "shape"),
    [
        ({"words": "s3cret"}, '{"words": text(6)}'),
        ({"content": "", "audio": {"data": "s3cret"}}, '{"content": text(0), "audio": {"data": text(6)}}'),
        ({"content": [{"type": "picture", "url": "s3"}]}, '{"content": [{"type": "picture", "url": text(2)}]}'),
        ({"tool_calls": ["s3"]}, '{"tool_calls": [text(2)]}'),
    ],
)  # fmt: skip
def test_an_answer_of_which_nothing_is_understood_has_failed(delta: dict[str, Any], shape: str):
    stop = {"choices": [{"delta": delta, "finish_reason": "stop"}]}
    thought = chunk({"reasoning": "Hmm."})
    whole = json.dumps({"choices": [{"message": delta, "finish_reason": "stop"}]}).encode()

    def raised(act: Callable[[], Any]) -> str:
        with pytest.raises(ModelFailed, match="sent an unreadable response") as found:
            act()
        assert found.value.reason == "unreadable"
        return str(found.value)

    for chunks in ([chunk(delta), END], [stop], [thought, chunk(delta), END]):
        assert shape in raised(partial(decoded, chunks))
    assert shape in raised(partial(read_completion, whole))


@each_row(
    "deltas",
    [
        [{"role": "assistant", "content": ""}],
        [{"content": [{"type": "text", "text": ""}]}],
        [{"words": "a"}, {"content": "Hello"}],
        [{"content": "", "words": None, "more": []}],
        [{"reasoning_details": [{"data": "a"}], "content": ""}],
    ],
)
def test_an_answer_may_be_empty_or_have_more_than_is_understood(deltas: list[Any]):
    assert decoded([*map(chunk, deltas), END])[-1] == Finish("stop")


def test_an_answer_that_is_cut_may_have_more_than_is_understood():
    cut = {"choices": [{"delta": {"words": "a"}, "finish_reason": "length"}]}

    assert decoded([cut]) == [Finish("length")]


def test_what_cannot_be_read_is_logged_once_by_its_shape(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.WARNING)
    picture = {"type": "picture", "url": "https://s3cret", "s3cret word": [1, "s3cret"]}

    for _ in range(3):
        read([{"answer": "s3cret"}, *content([picture], "Hello")])

    assert [record.getMessage() for record in caplog.records] == [
        'Could not read an event from a model\'s service: {"answer": text(6)}',
        "Could not read a part of the content from a model's service: "
        '{"type": "picture", "url": text(14), key: [number, text(6)]}',
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "index",
                    "delta",
                    "message",
                    "content",
                    "text",
                    "type",
                    "thinking",
                    "tool_calls",
                    "function",
                    "name",
                    "id",
                    "arguments",
                    "finish_reason",
                    "usage",
                    "prompt_tokens",
                    "custom_content",
                    "stages",
                    "error",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.lists(JSON, max_size=4), JSON)
def test_any_json_is_read_or_refused_in_one_way(deltas: list[Any], message: Any):
    chunks = [*map(chunk, deltas), {"choices": [{"message": message}]}, {"choices": message}, END]
    whole = json.dumps({"choices": [{"message": message}]}).encode()

    for act in (lambda: read(chunks), lambda: read_completion(whole)):
        with suppress(ModelFailed):
            act()
