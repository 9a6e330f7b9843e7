"""Events of a journal become the frames of a background response."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from apps.agent.events import RunFinished, TextDelta, ToolCallsRequested, TurnRestarted
from apps.agent.messages import ToolCall
from apps.doors.client_parameters import NO_TOOLS
from apps.live.events import (
    QuestionAdded,
    RunFailed,
    RunResumed,
    StatusChanged,
    StreamEvent,
    length,
)
from apps.responses.replay import RunReplay
from apps.responses.requests import ResponseRequest
from apps.responses.resource import Echo, echo_of
from tests.responses.test_encoder import frames

RUN = UUID(int=7)
ECHO = echo_of(ResponseRequest("Hi", background=True), NO_TOOLS, UUID(int=8))
BEGUN = (QuestionAdded({}), StatusChanged("running"))


def replayed(
    *events: StreamEvent, after: int = -1, gaps: Sequence[int] = (), echo: Echo = ECHO
) -> list[dict[str, Any]]:
    """Return the frames of events. `gaps` are the positions before which numbers are missing."""
    replay, number, content = RunReplay("app", echo, after), 0, b""
    replay.encoder.resource.completed_at = 1
    for place, event in enumerate(events):
        number += length(event) + (1_000 if place in gaps else 0)
        content += replay.frames((number, RUN, event))
    return frames(content)


def texts(found: Iterable[dict[str, Any]]) -> str:
    return "".join(frame["delta"] for frame in found if frame["type"].endswith("text.delta"))


def test_a_stream_resumes_after_every_number_however_texts_were_cut():
    end = (RunFinished(), StatusChanged("done"))
    pieces = replayed(*BEGUN, TextDelta("He"), TextDelta("l"), TextDelta("lo"), *end)
    whole = replayed(*BEGUN, TextDelta("Hello"), *end)

    last = pieces[-1]["sequence_number"]
    assert (pieces[-1], whole[-1]["sequence_number"]) == (whole[-1], last)
    for number in range(-1, last):
        rest = replayed(*BEGUN, TextDelta("Hello"), *end, after=number)
        known = replayed(*BEGUN, *map(TextDelta, "Hello"), *end, after=number)
        assert rest[-1] == known[-1]
        assert texts(rest) == texts(known)
        assert all(frame["sequence_number"] > number for frame in rest)
    assert replayed(*BEGUN, TextDelta("Hello"), *end, after=last) == []


def test_numbers_skip_what_a_lost_process_may_have_sent():
    found = replayed(*BEGUN, TextDelta("He"), RunResumed(), StatusChanged("running"), gaps=[3])

    numbers = [frame["sequence_number"] for frame in found]
    assert numbers == [0, 1, 2, 3, 5, 1006]


def test_a_restarted_answer_replaces_its_text():
    found = replayed(
        *BEGUN,
        TextDelta("First. Sec"),
        TurnRestarted("First. "),
        TextDelta("Second."),
        *(RunFinished(), StatusChanged("done")),
    )

    [item] = found[-1]["response"]["output"]
    assert item["content"][0]["text"] == "First. Second."


def test_calls_of_the_client_end_a_response():
    call = ToolCall("call-1", "look", "{}")
    end = (RunFinished("tool_calls"), StatusChanged("done"))

    [item] = replayed(*BEGUN, ToolCallsRequested((call,)), *end)[-1]["response"]["output"]

    assert (item["type"], item["call_id"], item["status"]) == (
        *("function_call", "call-1", "completed"),
    )


def test_a_failure_and_a_stop_end_a_response():
    failed = replayed(*BEGUN, RunFailed("Broken", "ab12"), StatusChanged("failed"))[-1]
    stopped = replayed(*BEGUN, TextDelta("He"), StatusChanged("stopped"))[-1]

    assert (failed["type"], failed["response"]["error"]) == (
        "response.failed",
        {"code": "server_error", "message": "Broken"},
    )
    assert (stopped["type"], stopped["response"]["status"]) == ("response.incomplete", "cancelled")
    assert stopped["response"]["output"][0]["status"] == "incomplete"
