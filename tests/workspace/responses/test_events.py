from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.agent.answers.assembly import Assembly
from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Event,
    RefusalDelta,
    TextDelta,
    TokenLogprob,
    Usage,
)
from apps.agent.messages import Attachment
from apps.agent.model import (
    Delta,
    Finish,
    ReasoningDelta,
    StagePart,
    ThoughtPart,
    ToolCallDelta,
    UntrustedRead,
)
from apps.workspace.responses.events import ResponseEvents, read_response
from apps.workspace.services.event_stream import EventDecoder
from tests.contract import proves
from tests.tables import each_row
from tests.workspace.responses.wire import (
    CITED,
    SEARCH,
    USAGE,
    call,
    encoded,
    events,
    message,
    reasoning,
    response,
    stream,
)

SPENT = Usage(30, 12, cached=20, created=5, reasoning=8)


def decode(*pieces: bytes) -> tuple[list[Delta], EventDecoder]:
    decoder = EventDecoder(ResponseEvents())
    deltas = [delta for piece in pieces for delta in decoder.feed(piece)]
    return [*deltas, *decoder.end()], decoder


def told(*items: dict[str, Any], **last: Any) -> list[Delta]:
    """Return the deltas of a streamed answer. Raises its failure."""
    deltas, decoder = decode(stream(*items, **last))
    if decoder.failure is not None:
        raise decoder.failure
    return deltas


def joined(deltas: Iterable[Delta]) -> list[Delta]:
    """Return the deltas, with consecutive ones of one kind joined."""
    found: list[Any] = []
    for delta in deltas:
        last = found[-1] if found else None
        match delta, last:
            case TextDelta(text), TextDelta(before):
                found[-1] = TextDelta(before + text)
            case ReasoningDelta(text), ReasoningDelta(before, name):
                found[-1] = ReasoningDelta(before + text, name)
            case ToolCallDelta(index, arguments=more), ToolCallDelta(same) if index == same:
                found[-1] = ToolCallDelta(index, last.id, last.name, last.arguments + more)
            case _:
                found.append(delta)
    return found


def kept(*items: dict[str, Any]) -> ThoughtPart:
    return ThoughtPart("response_items", json.dumps(items, separators=(",", ":")))


def test_a_text_is_told_as_it_comes_with_its_usage_and_its_end():
    assert told(message("Grüße aus Rīga 🎉")) == [
        TextDelta("Grüße "),
        TextDelta("aus "),
        TextDelta("Rīga "),
        TextDelta("🎉"),
        SPENT,
        Finish("stop"),
    ]


SPOKEN = [
    (
        [reasoning("**Look** first.", "Then tell."), message("A moment."), call("c1"), call("c2")],
        [
            ReasoningDelta("**Look** first.\n\nThen tell.", "reasoning"),
            TextDelta("A moment."),
            ToolCallDelta(2, "c1", "weather", '{"city": "Riga"}'),
            ToolCallDelta(3, "c2", "weather", '{"city": "Riga"}'),
            SPENT,
            kept(
                reasoning("**Look** first.", "Then tell."),
                {"type": "message", "text_length": 9, "id": "msg_1"},
                {"type": "function_call", "id": "fc_c1", "call_id": "c1"},
                {"type": "function_call", "id": "fc_c2", "call_id": "c2"},
            ),
            Finish("tool_calls"),
        ],
    ),
    (
        [SEARCH, message("Rain.", "msg_1", CITED)],
        [
            StagePart(0, "Web search"),
            StagePart(0, content="- weather Riga", failed=False),
            UntrustedRead("a web search"),
            TextDelta("Rain."),
            AnnotationAdded(
                {
                    "type": "url_citation",
                    "url_citation": {
                        "url": "https://weather.example.org/riga",
                        "title": "Riga today",
                        "start_index": 0,
                        "end_index": 4,
                    },
                }
            ),
            SPENT,
            kept(SEARCH, {"type": "message", "text_length": 5, "id": "msg_1"}),
            Finish("stop"),
        ],
    ),
    (
        [message("I look.", "m1", phase="commentary"), message("Rain.", "m2")],
        [
            TextDelta("I look.\n\nRain."),
            SPENT,
            kept(
                {"type": "message", "text_length": 7, "id": "m1", "phase": "commentary"},
                {"type": "message", "text_length": 7, "id": "m2"},
            ),
            Finish("stop"),
        ],
    ),
]


@pytest.mark.parametrize(("items", "expected"), SPOKEN)
def test_items_are_told_alike_however_they_come(items, expected):
    """They arrive piece by piece, each when complete, all with the response, or in one JSON
    document."""
    whole = events(*items)
    done = [one for one in whole if one["type"] == "response.output_item.done"]

    ways = [
        told(*items),
        decode(*map(encoded, [*done, whole[-1]]))[0],
        decode(encoded(whole[-1]))[0],
        read_response(json.dumps(response(*items)).encode()),
    ]

    assert [joined(way) for way in ways] == [expected] * 4


def test_a_thought_that_the_service_keeps_to_itself_is_not_kept():
    hidden = reasoning("Hm.", encrypted="")

    assert not any(isinstance(delta, ThoughtPart) for delta in told(hidden, message("a")))


MIXED = stream(reasoning("Höre."), SEARCH, message("Řiga 🎉 z"), call("c1")) + b"data: [DONE]\n\n"


@given(
    st.lists(st.integers(0, len(MIXED.replace(b"\n", b"\r\n"))), max_size=12),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
def test_where_reads_are_cut_and_how_lines_end_changes_nothing(cuts, line_end):
    spoken = MIXED.replace(b"\n", line_end)
    edges = [0, *sorted(cut for cut in cuts if cut < len(spoken)), len(spoken)]

    deltas, decoder = decode(*(spoken[a:b] for a, b in pairwise(edges)))

    assert (deltas, decoder.failure) == (decode(MIXED)[0], None)
    assert decoder.reader.is_done


def test_reads_of_one_byte_change_nothing():
    assert decode(*(MIXED[i : i + 1] for i in range(len(MIXED))))[0] == decode(MIXED)[0]


UNKNOWN = [
    {"type": "response.hologram.delta", "delta": {"x": [1]}, "output_index": "none"},
    {"type": "keepalive", "sequence_number": 3},
    {"type": 5},
    {"type": ["response.completed"]},
    {"no": "type"},
    {"type": "response.output_item.added", "output_index": 7, "item": {"type": "hologram"}},
    {"type": "response.output_item.done", "output_index": 7, "item": {"type": "hologram"}},
    {"type": "response.output_text.annotation.added", "annotation": None},
]


@each_row("event", UNKNOWN)
def test_what_is_not_known_is_skipped(event):
    sent = b"data: " + json.dumps(event).encode() + b"\n\n"

    deltas, decoder = decode(sent + stream(message("a")))

    assert (deltas, decoder.failure) == (told(message("a")), None)


def test_an_event_whose_type_is_told_by_its_name_alone_is_known():
    sent = b'event: response.output_text.delta\ndata: {"output_index":0,"delta":"a"}\n\n'

    assert decode(sent)[0] == [TextDelta("a")]


def test_half_of_a_character_waits_for_the_other_half():
    sent = b'data: {"type":"response.output_text.delta","delta":"a\\ud83d"}\n\n'

    assert decode(sent)[0] == [TextDelta("a")]


def test_probabilities_are_told_as_a_completion_tells_them():
    odds = [{"token": "a", "logprob": -0.5, "top_logprobs": []}]
    said = {"type": "response.output_text.delta", "delta": "a", "logprobs": odds}

    assert decode(encoded(said))[0] == [TextDelta("a", (TokenLogprob("a", -0.5),))]


def test_a_refusal_is_told_as_one():
    refused = message("")
    refused["content"] = [{"type": "refusal", "refusal": "I may not."}]
    said = {"type": "response.refusal.delta", "output_index": 0, "delta": "I may not."}

    last = {"type": "response.completed", "response": response(refused)}
    streamed = decode(encoded(said), encoded(last))[0]

    assert streamed == [RefusalDelta("I may not."), SPENT, Finish("stop")]
    assert read_response(json.dumps(response(refused)).encode()) == streamed


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        ({"reason": "max_output_tokens"}, "length"),
        ({"reason": "content_filter"}, "content_filter"),
        ({"reason": "something_new"}, "length"),
        (None, "length"),
    ],
)
def test_an_incomplete_answer_ends_with_the_reason(details, reason):
    deltas = told(message("a"), status="incomplete", incomplete_details=details)

    assert deltas == [TextDelta("a"), SPENT, Finish(reason)]


@proves("T-53")
@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (None, None),
        ({}, Usage(0, 0)),
        ({"input_tokens": 3, "output_tokens": 2}, Usage(3, 2)),
        ({"input_tokens": 3, "output_tokens": -2, "input_tokens_details": 7}, Usage(3, 0)),
        (USAGE, SPENT),
    ],
)
def test_absent_counts_are_none_and_not_zero(written, expected):
    """T-53."""
    deltas = told(message("a"), usage=written)

    assert [one for one in deltas if isinstance(one, Usage)] == ([expected] if expected else [])


STAGES: list[tuple[dict[str, Any], str, str, bool]] = [
    (
        {
            "type": "code_interpreter_call",
            "id": "ci_1",
            "status": "completed",
            "code": "print(4)",
            "container_id": "cntr_1",
            "outputs": [{"type": "logs", "logs": "4"}],
        },
        "Code interpreter",
        "````python\nprint(4)\n````\n\n````\n4\n````",
        False,
    ),
    (
        {
            "type": "file_search_call",
            "id": "fs_1",
            "status": "completed",
            "queries": ["rain"],
            "results": [{"filename": "rain.md"}],
        },
        "File search",
        "- rain\n- rain.md",
        False,
    ),
    (
        {
            "type": "mcp_call",
            "id": "mcp_1",
            "server_label": "wiki",
            "name": "ask",
            "arguments": "{}",
            "output": None,
            "error": {"type": "http_error", "message": "gone"},
        },
        "MCP tool: wiki: ask",
        "````json\n{}\n````",
        True,
    ),
    (
        {"type": "web_search_call", "id": "ws", "status": "failed", "action": {"type": "new"}},
        "Web search",
        "",
        True,
    ),
    (
        {
            "type": "web_search_call",
            "id": "ws",
            "status": "completed",
            "action": {"type": "find_in_page", "pattern": "rain", "url": "https://a.example"},
        },
        "Web search",
        "- rain (https://a.example)",
        False,
    ),
]


@pytest.mark.parametrize(("item", "title", "content", "failed"), STAGES)
def test_a_tool_of_the_service_is_a_stage_and_is_kept(item, title, content, failed):
    told_of = [delta for delta in told(item) if not isinstance(delta, UntrustedRead)]
    assert told_of == [
        StagePart(0, title),
        StagePart(0, content=content, failed=failed),
        SPENT,
        kept(item),
        Finish("stop"),
    ]


def test_what_strangers_wrote_is_told_to_be_read():
    read = [
        delta.source
        for item in (SEARCH, *(item for item, *_ in STAGES))
        for delta in told(item)
        if isinstance(delta, UntrustedRead)
    ]

    assert read == ["a web search", "results of wiki: ask", "a web search", "a web search"]


def test_a_tool_that_waits_for_an_approval_fails_with_what_to_change_and_is_not_sent_again():
    asked = {
        "type": "mcp_approval_request",
        "id": "mcpr_1",
        "server_label": "wiki",
        "name": "ask",
        "arguments": "{}",
    }

    _, stage, *rest = told(asked)

    assert isinstance(stage, StagePart)
    assert stage.failed
    assert '`require_approval` to `"never"`' in stage.content
    assert rest == [SPENT, Finish("stop")]


def test_a_picture_is_an_attachment_and_is_not_sent_again():
    picture = {
        "type": "image_generation_call",
        "id": "ig_1",
        "status": "completed",
        "result": "iVBORw0KGgo=",
        "revised_prompt": "A  small cat",
        "output_format": "webp",
    }

    assert told(picture) == [
        StagePart(0, "Picture"),
        StagePart(0, content="A  small cat", failed=False),
        AttachmentAdded(Attachment("image/webp", "A small cat", data="iVBORw0KGgo=")),
        SPENT,
        Finish("stop"),
    ]


FAILURES = [
    ({"code": "rate_limit_exceeded", "message": "m"}, (429, True)),
    ({"code": "insufficient_quota", "message": "m"}, (429, False)),
    ({"code": "server_error", "message": "m"}, (500, True)),
    ({"code": "invalid_image_url", "message": "m"}, (400, False)),
    ({"code": "invalid_prompt", "message": "m"}, (400, False)),
    ({"code": "something_new", "message": "m"}, (None, False)),
    ({"code": None, "type": "server_error", "message": "m"}, (500, True)),
    ({"code": "503", "message": "m"}, (503, True)),
]


@each_row(("error", "expected"), FAILURES)
def test_an_error_is_classified_by_its_code_wherever_it_stands(error, expected):
    begun = stream(message("a")).partition(b"event: response.output_text.done")[0]
    failed = response(status="failed", error=error, usage=None)
    ways = [
        {"type": "error", "error": error},
        {"type": "response.failed", "response": failed},
        *([] if "type" in error else [{"type": "error", "sequence_number": 5, **error}]),
    ]

    for sent in ways:
        deltas, decoder = decode(begun + encoded(sent))
        failure = decoder.failure
        assert deltas == [TextDelta("a")]
        assert failure is not None
        assert (failure.status, failure.is_transient, failure.reason) == (*expected, "stream")
        assert failure.code == (error["code"] or "")


@each_row(
    "sent",
    [
        b"data: {\n\n",
        b"data: \xff\xfe\n\n",
        b"data: [1]\n\n",
        b"data: " + b"[" * 100_000 + b"\n\n",
        b'data: {"type":"response.output_text.delta","delta":5}\n\n',
        b'data: {"type":"response.output_text.delta","delta":"a","output_index":"x"}\n\n',
        b'data: {"type":"response.output_item.done","item":5}\n\n',
        b'data: {"type":"response.completed","response":null}\n\n',
    ],
)
def test_an_event_that_is_none_fails_after_what_came_before_it(sent):
    first = b'data: {"type":"response.output_text.delta","delta":"a"}\n\n'

    deltas, decoder = decode(first + sent + first)

    assert deltas == [TextDelta("a")]
    assert decoder.failure is not None
    assert (str(decoder.failure), decoder.failure.reason) == (
        "The model's service sent an unreadable response.",
        "unreadable",
    )


def test_a_call_takes_shape_while_it_is_written():
    """The page shows a stage with the arguments as they arrive."""
    shown: list[Event] = []
    assembly = Assembly(shown.append)

    for delta in told(call("c1", arguments='{"city": "Old Riga"}')):
        assembly.feed(delta)

    (made,) = assembly.reply("gpt").message.tool_calls
    assert (made.id, made.name, made.arguments) == ("c1", "weather", '{"city": "Old Riga"}')


def made_by(*events: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return ID, name and arguments of the calls in these events."""
    deltas, decoder = decode(*(b"data: %b\n\n" % json.dumps(one).encode() for one in events))
    assert decoder.failure is None
    assembly = Assembly(lambda event: None)
    for delta in deltas:
        assembly.feed(delta)
    calls = assembly.reply("gpt").message.tool_calls
    return [(made.id, made.name, made.arguments) for made in calls]


def event_of(kind: str, index: int = 0, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "output_index": index, **fields}


def test_two_calls_with_the_same_number_stay_two():
    first, second = (
        call("c1", "weather", '{"city": "Riga"}'),
        call("c2", "clock", '{"zone": "UTC"}'),
    )
    arguing = "function_call_arguments.delta"

    streamed = made_by(
        event_of("output_item.added", item={**first, "arguments": ""}),
        event_of(arguing, delta='{"city": "Riga"}'),
        event_of("output_item.done", item=first),
        event_of("output_item.added", item={**second, "arguments": ""}),
        event_of(arguing, delta='{"zone": "UTC"}'),
        event_of("output_item.done", item=second),
        event_of("completed", response=response(first, second)),
    )
    whole = made_by(
        event_of("output_item.done", item=first),
        event_of("output_item.done", item=second),
        event_of("completed", response=response(first, second)),
    )

    assert (
        streamed
        == whole
        == [
            ("c1", "weather", '{"city": "Riga"}'),
            ("c2", "clock", '{"zone": "UTC"}'),
        ]
    )


@each_row(
    ("written", "expected"),
    [({"city": "Riga"}, '{"city":"Riga"}'), ({}, "{}"), (None, "{}"), ('{"a": 1}', '{"a": 1}')],
)
def test_arguments_can_be_an_object(written: Any, expected: str):
    item = {**call("c1"), "arguments": written}

    assert made_by(
        event_of("output_item.added", item={**item, "arguments": None}),
        event_of("function_call_arguments.delta", delta=None),
        event_of("output_item.done", item=item),
        event_of("completed", response=response(item)),
    ) == [("c1", "weather", expected)]


def test_an_empty_error_of_a_complete_response_is_none():
    whole = response(status="completed", output=[], error={"code": None, "message": ""})

    assert Finish("stop") in read_response(json.dumps(whole).encode())
