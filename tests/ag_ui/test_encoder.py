"""Events of a run become those of AG-UI."""

from __future__ import annotations

from typing import Any

from apps.ag_ui.encoder import RunEncoder
from apps.ag_ui.interrupts import ResumedInterrupt
from apps.agent.events import (
    AttachmentAdded,
    Event,
    ModelUsage,
    NoticeAdded,
    Reasoning,
    RunFinished,
    Spent,
    StageClosed,
    StageDelta,
    StageOpened,
    StateSaved,
    SubagentEnded,
    SubagentStarted,
    TextDelta,
    ToolCallsRequested,
    Usage,
)
from apps.agent.messages import Attachment, ToolCall
from apps.doors.consumer import HEARTBEAT
from apps.doors.sealed_state import unsealed
from tests.ag_ui.threads import events_in, named
from tests.contract import proves_feature

USAGE = Usage(10, 5, (ModelUsage("large", 10, 5, 4, None, 2),))
IDS = {"threadId": "t", "runId": "r"}


def encoder(resumed: ResumedInterrupt | None = None) -> RunEncoder:
    return RunEncoder("app", thread="t", run="r", resumed=resumed)


def streamed(*events: Event, resumed: ResumedInterrupt | None = None) -> list[dict[str, Any]]:
    return events_in(encoder(resumed).encode(events))


@proves_feature("ag-ui", "usage")
def test_a_text_is_a_message_and_the_last_event_has_the_usage():
    one = encoder()

    begun, *rest = events_in(
        one.opening() + one.encode([TextDelta("Hel"), TextDelta(""), TextDelta("lo")])
    )
    rest += events_in(one.encode([RunFinished("stop", USAGE)]))

    assert begun == {"type": "RUN_STARTED", **IDS, "protocolVersion": "1.0"}
    key = rest[0]["messageId"]
    assert rest == [
        {"type": "TEXT_MESSAGE_START", "messageId": key, "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": key, "delta": "Hel"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": key, "delta": "lo"},
        {"type": "TEXT_MESSAGE_END", "messageId": key},
        {
            "type": "RUN_FINISHED",
            **IDS,
            "outcome": {"type": "success"},
            "usage": [
                {
                    "model": "large",
                    "inputTokens": 10,
                    "outputTokens": 5,
                    "totalTokens": 15,
                    "reasoningTokens": 2,
                    "cachedInputTokens": 4,
                }
            ],
        },
    ]


def test_reasoning_is_a_message_of_its_own_and_the_state_belongs_to_the_text():
    found = streamed(
        StageOpened("m", "Thinking", is_reasoning=True),
        Reasoning("m", "First."),
        StageClosed("m", 0.5),
        TextDelta("Done."),
        StateSaved({"k": 1}),
        RunFinished("length"),
    )

    assert [event["type"] for event in found] == [
        *("REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT"),
        *("REASONING_MESSAGE_END", "REASONING_END"),
        *("TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"),
        *("REASONING_ENCRYPTED_VALUE", "RUN_FINISHED"),
    ]
    assert {event["messageId"] for event in found[:5]} == {found[0]["messageId"]}
    assert (found[8]["subtype"], found[8]["entityId"]) == ("message", found[5]["messageId"])
    assert unsealed(found[8]["encryptedValue"]) == {"k": 1}
    assert found[9]["result"] == {"finishReason": "length"}


def test_calls_of_own_tools_have_the_text_of_their_stage_as_their_result():
    found = streamed(
        TextDelta("Well"),
        StageOpened("1", "Look at Oslo", tool="look"),
        StageDelta("1", "Rain"),
        StageClosed("1", 0.5, failed=True),
        StageOpened("1", "Again", tool="look"),
        StageClosed("1", 0.5),
        RunFinished(),
    )

    first, second = (event["toolCallId"] for event in named(found, "TOOL_CALL_START"))
    assert named(found, "TOOL_CALL_START")[0] == {
        "toolCallId": first,
        "toolCallName": "look",
        "metadata": {"title": "Look at Oslo"},
    }
    assert named(found, "TOOL_CALL_RESULT") == [
        {"toolCallId": first, "content": "Rain", "metadata": {"failed": True}},
        {"toolCallId": second, "content": "Again"},
    ]
    assert first != second
    assert found[-1]["outcome"] == {"type": "success"}


def test_other_stages_are_steps_whose_names_are_never_open_twice():
    found = streamed(
        StageOpened("a", "Read"),
        StageOpened("b", "Read"),
        StageDelta("b", "Two pages"),
        StageClosed("b", 0.5),
        StageClosed("a", 0.5),
        StageOpened("c", "Read"),
        RunFinished(),
    )

    steps = [event["stepName"] for event in found if event["type"].startswith("STEP_")]
    assert steps == ["Read", "Read (2)", "Read (2)", "Read", "Read", "Read"]
    content = {"title": "Read (2)", "text": "Two pages", "failed": False}
    assert named(found, "ACTIVITY_SNAPSHOT") == [
        {"activityType": "quickapps.step", "content": content}
    ]


def test_calls_of_the_client_share_a_message_and_wait_for_their_results():
    calls = (ToolCall("1", "look", '{"a":1}'), ToolCall("2", "look", ""))

    found = streamed(ToolCallsRequested(calls), StateSaved({"k": 1}), RunFinished("tool_calls"))

    begun = named(found, "TOOL_CALL_START")
    key = found[0]["messageId"]
    assert [event["parentMessageId"] for event in begun] == [key, key]
    assert [event["delta"] for event in named(found, "TOOL_CALL_ARGS")] == ['{"a":1}', "{}"]
    assert named(found, "REASONING_ENCRYPTED_VALUE")[0]["entityId"] == key
    assert found[-1]["outcome"] == {"type": "success", "pendingToolCallIds": ["1", "2"]}


def test_a_client_without_a_protocol_version_gets_no_ids_in_the_outcome_which_it_would_reject():
    one = RunEncoder("app", thread="t", run="r", resumed=None, protocol=None)

    found = events_in(
        one.encode([ToolCallsRequested((ToolCall("1", "look", ""),)), RunFinished("tool_calls")])
    )

    assert found[-1]["outcome"] == {"type": "success"}


def test_subagents_files_and_notices_are_shown():
    found = streamed(
        StageOpened("1", "Ask an expert", tool="spawn"),
        SubagentStarted("t:1", "1", "Find it", "Expert"),
        SubagentStarted("t:1", "1", "Find it", "Expert"),
        SubagentEnded("t:1", "failed"),
        SubagentStarted("t:2", "1", "Write it"),
        AttachmentAdded(Attachment("text/csv", "a.csv", url="files/a.csv")),
        NoticeAdded("n", "Shortened."),
        RunFinished(),
    )

    first, second = named(found, "SUBAGENT_STARTED")
    assert (first["name"], first["description"], second["name"]) == (
        "Expert",
        "Find it",
        "Write it",
    )
    assert first["parentToolCallId"] == named(found, "TOOL_CALL_START")[0]["toolCallId"]
    assert named(found, "SUBAGENT_ERROR")[0]["subagentRunId"] == first["subagentRunId"]
    assert named(found, "SUBAGENT_FINISHED") == [{"subagentRunId": second["subagentRunId"]}]
    assert named(found, "CUSTOM") == [
        {
            "name": "quickapps.attachment",
            "value": {"type": "text/csv", "title": "a.csv", "url": "files/a.csv"},
        },
        {"name": "quickapps.notice", "value": {"id": "n", "text": "Shortened."}},
    ]


def test_an_approved_call_is_not_shown_again_and_a_denied_one_gets_a_result():
    resumed = ResumedInterrupt("1", "server-call-9", "Deny")
    opened = StageOpened("1", "Pay", tool="pay")

    approved = streamed(
        opened, StageDelta("1", "Paid"), StageClosed("1"), RunFinished(), resumed=resumed
    )
    denied = streamed(TextDelta("Well"), RunFinished(), resumed=resumed)

    assert named(approved, "TOOL_CALL_START") == []
    assert named(approved, "TOOL_CALL_RESULT") == [
        {"toolCallId": "server-call-9", "content": "Paid"}
    ]
    assert named(denied, "TOOL_CALL_RESULT") == [{"toolCallId": "server-call-9", "content": "Deny"}]


def test_a_failure_closes_what_is_open_and_has_the_usage():
    one = encoder()
    one.encode([StageOpened("a", "Read"), TextDelta("We"), Spent(USAGE)])

    found = events_in(one.error({"error": {"message": "Sorry.", "code": "500"}}))

    assert [event["type"] for event in found] == [
        *("TEXT_MESSAGE_END", "ACTIVITY_SNAPSHOT", "STEP_FINISHED", "RUN_ERROR"),
    ]
    assert (found[-1]["message"], found[-1]["code"]) == ("Sorry.", "500")
    assert found[-1]["usage"][0]["totalTokens"] == 15
    assert (one.end(), one.heartbeat) == (b"", HEARTBEAT)
