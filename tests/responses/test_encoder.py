"""Events of a run become OpenAI's events or one response."""

from __future__ import annotations

import json
from typing import Any

import pytest

from apps.agent.events import (
    AttachmentAdded,
    Event,
    ModelUsage,
    Reasoning,
    RefusalDelta,
    RunFinished,
    Spent,
    StageClosed,
    StageOpened,
    StateSaved,
    TextDelta,
    TokenLogprob,
    ToolCallsRequested,
    Usage,
)
from apps.agent.messages import Attachment, ToolCall
from apps.doors.client_parameters import NO_TOOLS, ClientTools
from apps.doors.sealed_state import unsealed
from apps.responses.encoder import ResponseEncoder, WholeResponse
from apps.responses.requests import ResponseRequest
from apps.responses.resource import echo_of

USAGE = Usage(10, 5, (ModelUsage("large", 10, 5, 4, 0, 1),), 4, 0, 1)
SPENT = {
    "input_tokens": 10,
    "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
    "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 1},
    "total_tokens": 15,
}
STATEFUL = ["reasoning.encrypted_content"]
END = RunFinished("stop", USAGE)


def echo(tools: ClientTools = NO_TOOLS, **fields: Any) -> Any:
    return echo_of(ResponseRequest("Hi", **fields), tools)


def frames(content: bytes) -> list[dict[str, Any]]:
    found = []
    for event in filter(None, content.decode().split("\n\n")):
        name, data = event.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {found[-1]['type']}"
    return found


def streamed(*events: Event, **options: Any) -> list[dict[str, Any]]:
    encoder = ResponseEncoder("app", echo(**options))
    content = encoder.encode(events)
    found = frames(encoder.opening() + content)
    assert [frame["sequence_number"] for frame in found] == [*range(len(found))]
    return found


def whole(*events: Event, **options: Any) -> dict[str, Any]:
    encoder = WholeResponse("app", echo(**options))
    encoder.feed(events)
    written: dict[str, Any] = json.loads(encoder.body())
    return written


def without_ids(item: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key != "id"}


def text(said: str, **fields: Any) -> dict[str, Any]:
    return {"type": "output_text", "text": said, "annotations": [], "logprobs": [], **fields}


def message(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "status": "completed", "role": "assistant", "content": [*parts]}


def test_a_text_is_a_message_that_grows():
    begun, progress, added, part, one, two, done, part_done, item, completed = streamed(
        TextDelta("Hel"), TextDelta("lo"), END
    )

    place = {"item_id": added["item"]["id"], "output_index": 0, "content_index": 0}
    assert [begun["type"], progress["type"]] == ["response.created", "response.in_progress"]
    assert begun["response"]["status"] == "in_progress"
    assert begun["response"]["output"] == []
    assert added["item"] == {**message(), "status": "in_progress", "id": place["item_id"]}
    assert part == {
        "type": "response.content_part.added",
        "sequence_number": 3,
        **place,
        "part": text(""),
    }
    assert one == {
        "type": "response.output_text.delta",
        "sequence_number": 4,
        **place,
        "delta": "Hel",
        "logprobs": [],
    }
    assert two["delta"] == "lo"
    assert (done["text"], part_done["part"]) == ("Hello", text("Hello"))
    assert without_ids(item["item"]) == message(text("Hello"))
    assert completed["response"]["output"] == [item["item"]]
    assert completed["response"]["usage"] == SPENT


def test_a_whole_response_is_the_last_event_of_a_stream():
    events: list[Event] = [
        StageOpened("t", "Thinking", is_reasoning=True),
        Reasoning("t", "First "),
        Reasoning("t", "this."),
        StageClosed("t", 0.5),
        TextDelta("Done."),
        RefusalDelta("No more."),
        ToolCallsRequested((ToolCall("c", "look", '{"a":1}'),)),
        RunFinished("tool_calls", USAGE),
    ]

    last = streamed(*events)[-1]["response"]
    alone = whole(*events)

    assert [without_ids(item) for item in alone["output"]] == [
        {
            "type": "reasoning",
            "status": "completed",
            "summary": [{"type": "summary_text", "text": "First this."}],
        },
        message(text("Done."), {"type": "refusal", "refusal": "No more."}),
        {
            "type": "function_call",
            "status": "completed",
            "call_id": "c",
            "name": "look",
            "arguments": '{"a":1}',
        },
    ]
    for response in (last, alone):
        response.pop("id")
        for item in response["output"]:
            item.pop("id")
    assert last == alone


def test_calls_of_namespaces_and_custom_tools_have_their_own_form():
    tools = ClientTools(namespaces={"crm__look": ("crm", "look")})
    calls = (ToolCall("1", "crm__look", "{}"), ToolCall("2", "patch", '{"input":"a b"}'))

    found = whole(
        ToolCallsRequested(calls, frozenset({"patch"})), RunFinished("tool_calls"), tools=tools
    )

    assert [without_ids(item) for item in found["output"]] == [
        {
            "type": "function_call",
            "status": "completed",
            "call_id": "1",
            "name": "look",
            "namespace": "crm",
            "arguments": "{}",
        },
        {
            "type": "custom_tool_call",
            "status": "completed",
            "call_id": "2",
            "name": "patch",
            "input": "a b",
        },
    ]


@pytest.mark.parametrize("include", [STATEFUL, None])
def test_the_state_is_sealed_in_a_reasoning_item_for_clients_that_ask_for_it(include):
    found = whole(TextDelta("Hi"), StateSaved({"k": [1]}), END, include=include)

    kept = [unsealed(item["encrypted_content"]) for item in found["output"][1:]]
    assert kept == ([{"k": [1]}] if include else [])


def test_files_and_sources_are_cited_where_the_text_has_come_to():
    report = Attachment("text/csv", "Report", url="files/me/report.csv")
    unnamed = Attachment("text/markdown", data="# Notes")

    found = whole(
        TextDelta("See "), AttachmentAdded(report), AttachmentAdded(unnamed), TextDelta("it."), END
    )

    cited = {
        "type": "url_citation",
        "url": "files/me/report.csv",
        "title": "Report",
        "start_index": 4,
        "end_index": 4,
    }
    assert [without_ids(item) for item in found["output"]] == [
        message(text("See it.", annotations=[cited]))
    ]


def test_log_probabilities_come_with_their_text():
    token = TokenLogprob("Hi", -0.5, (72, 105), (TokenLogprob("Ho", -1.5),))
    other = {"token": "Ho", "logprob": -1.5, "bytes": [72, 111]}
    written = [{"token": "Hi", "logprob": -0.5, "bytes": [72, 105], "top_logprobs": [other]}]

    found = streamed(TextDelta("Hi", (token,)), END)

    assert found[4]["logprobs"] == written
    assert found[-1]["response"]["output"][0]["content"] == [text("Hi", logprobs=written)]


@pytest.mark.parametrize(
    ("reason", "status", "details"),
    [
        ("stop", "completed", None),
        ("tool_calls", "completed", None),
        ("length", "incomplete", {"reason": "max_output_tokens"}),
        ("content_filter", "incomplete", {"reason": "content_filter"}),
    ],
)
def test_an_answer_that_was_cut_short_is_incomplete(reason, status, details):
    last = streamed(TextDelta("Hi"), RunFinished(reason))[-1]

    assert last["type"] == f"response.{status}"
    assert (last["response"]["status"], last["response"]["incomplete_details"]) == (status, details)
    assert last["response"]["usage"] is None


def test_an_error_ends_a_stream_with_what_there_is():
    encoder = ResponseEncoder("app", echo())
    encoder.encode([TextDelta("Well"), Spent(USAGE)])

    *_, item, failed = frames(
        encoder.error({"error": {"code": "server_error", "message": "Sorry."}})
    )

    assert item["item"]["status"] == "incomplete"
    assert failed["type"] == "response.failed"
    assert failed["response"]["error"] == {"code": "server_error", "message": "Sorry."}
    assert (failed["response"]["output"], failed["response"]["usage"]) == ([item["item"]], SPENT)
    assert encoder.end() == b""
