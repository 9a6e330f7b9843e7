"""The model asks for the current time."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from apps.accounts.caller import Caller, ClientInfo
from apps.agent.events import Event, StageClosed, StageDelta, StageOpened
from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.tools import ToolResult
from apps.capabilities.clock.capability import TOOL_NAME, annotate, clock
from apps.capabilities.registry import Contribution
from apps.errors import InvalidParameter
from tests.capabilities.manifests import CALLER, manifest, opened, timeless, use
from tests.contract import proves
from tests.tables import each_row

NOON = datetime(2026, 3, 24, 14, 30, 0, 987, tzinfo=UTC)


@proves("12")
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "2026-03-24T14:30:00+00:00 (UTC, source=default)"),
        ({"timezone": None}, "2026-03-24T14:30:00+00:00 (UTC, source=default)"),
        ({"timezone": " "}, "2026-03-24T14:30:00+00:00 (UTC, source=default)"),
        ({"timezone": "UTC"}, "2026-03-24T14:30:00+00:00 (UTC, source=argument)"),
        ({"timezone": "Europe/Paris"}, "2026-03-24T15:30:00+01:00 (Europe/Paris, source=argument)"),
        (
            {"timezone": "america/new york"},
            "2026-03-24T10:30:00-04:00 (America/New_York, source=argument)",
        ),
    ],
)
async def test_the_time_is_told_in_the_zone_that_was_asked_for(arguments, text):
    async with opened(clock, manifest()) as contribution:
        with time_machine.travel(NOON, tick=False):
            result = await use(contribution.tools[0], **arguments)

    assert result == ToolResult(text, "text/plain")


@proves("12")
@pytest.mark.parametrize(
    ("zone", "advice"),
    [
        (
            "Europe/Pariss",
            "'Europe/Pariss' is not an IANA time zone. Did you mean Europe/Paris",
        ),
        ("Paris", "'Paris' is not an IANA time zone. Did you mean Europe/Paris"),
        ("zzz", "'zzz' is not an IANA time zone. Examples: Europe/Paris, Asia/Tokyo."),
        ("../../etc/passwd", "'../../etc/passwd' is not an IANA time zone."),
        ("/etc/localtime", "'/etc/localtime' is not an IANA time zone."),
        ("x" * 100_000, f"'{'x' * 60}' is not an IANA time zone."),
        ("Europe/\0Paris", "'Europe/\\x00Paris' is not an IANA time zone."),
    ],
)
async def test_an_unknown_zone_is_refused_with_near_ones(zone, advice):
    async with opened(clock, manifest()) as contribution:
        with pytest.raises(InvalidParameter) as error:
            await use(contribution.tools[0], timezone=zone)

    assert str(error.value).startswith(f"Parameter timezone is invalid: {advice}")


async def test_the_call_is_shown():
    events: list[Event] = []
    async with opened(clock, manifest()) as contribution:
        with time_machine.travel(NOON, tick=False):
            await use(contribution.tools[0], events.append, timezone="Asia/Tokyo")

    assert timeless(events) == [
        StageOpened("call-1", "Current time"),
        StageDelta("call-1", "> #### Request:\n\r***timezone:*** Asia/Tokyo\n\r"),
        StageDelta(
            "call-1", "> #### Result:\n\n2026-03-24T23:30:00+09:00 (Asia/Tokyo, source=argument)\n"
        ),
        StageClosed("call-1", 0.0),
    ]


@proves("12")
async def test_the_tool_is_there_unless_the_manifest_switches_it_off():
    internal = {
        "type": "internal",
        "name": "built-in",
        "tools": [
            {
                "open_ai_tool": {
                    "function": {
                        "name": "internal_timeawareness_current_timestamp",
                        "description": "d",
                        "parameters": {"type": "object", "properties": {}},
                    }
                }
            }
        ],
    }

    assert clock.prepare(manifest(features=None)) is None
    assert clock.prepare(manifest(features={"timestamp": None})) is None
    async with opened(clock, manifest(internal, features=None)) as contribution:
        (tool,) = contribution.tools

    assert tool.spec.name == "internal_timeawareness_current_timestamp"
    assert list(tool.spec.parameters["properties"]) == ["timezone"]


QUESTION = ModelMessage("user", "What is new?")
CALL = ToolCall("call-1", "news", "{}")


async def contribution(caller: Caller = CALLER) -> Contribution:
    async with opened(clock, manifest(), caller) as found:
        return found


async def told(found: Contribution, messages: list[ModelMessage]) -> list[ModelMessage]:
    with time_machine.travel(NOON, tick=False):
        for step in found.history:
            messages = list(await step(messages))
    return messages


@proves("12")
async def test_every_question_comes_with_the_time_at_the_end():
    messages = await told(await contribution(), [QUESTION])

    [asked, result] = messages[1:]
    [call] = asked.tool_calls
    assert (call.name, call.arguments) == (TOOL_NAME, "{}")
    assert result == ModelMessage(
        "tool", "2026-03-24T14:30:00+00:00 (UTC, source=default)", tool_call_id=call.id
    )


@proves("12")
async def test_the_time_of_earlier_questions_stays_as_it_was():
    found = await contribution()
    earlier = await told(found, [QUESTION])

    messages = await told(found, [*earlier, ModelMessage("assistant", "Nothing."), QUESTION])

    assert messages[: len(earlier)] == earlier
    assert [message.role for message in messages[-3:]] == ["user", "assistant", "tool"]
    assert len({m.tool_call_id for m in messages if m.role == "tool"}) == 2


@proves("12")
async def test_a_user_whose_zone_is_known_is_told_the_time_there():
    found = await contribution(Caller("user-7", "user", client=ClientInfo(timezone="Europe/Paris")))

    result = (await told(found, [QUESTION]))[-1]

    assert result.content == "2026-03-24T15:30:00+01:00 (Europe/Paris, source=user_timezone)"
    assert result.state == {"_user_timezone": "Europe/Paris"}


@proves("12")
async def test_a_result_keeps_its_own_time_and_its_own_state():
    [step] = (await contribution()).results

    with time_machine.travel(NOON, tick=False):
        found = await step(CALL, ToolResult("Rain.", "text/plain", state={"own": 1}))

    assert found.state == {
        "own": 1,
        "_message_metadata": {
            "timestamp": {
                "response_timestamp": "2026-03-24T14:30:00+00:00",
                "timestamp_source": "server",
                "timezone_name": "UTC",
                "skip_time_annotation": False,
            },
            "content_type": "text/plain",
        },
    }


def result_with(**timestamp: Any) -> ModelMessage:
    metadata = {"_message_metadata": {"timestamp": timestamp, "content_type": "text/plain"}}
    return ModelMessage("tool", "Rain.", tool_call_id="call-1", state=metadata)


@proves("12")
async def test_the_model_reads_the_time_below_a_result_and_nothing_of_it_is_kept():
    result = result_with(response_timestamp="2026-03-24T16:30:00+02:00")
    messages = [QUESTION, result]

    seen = await annotate(messages)

    assert seen == [
        QUESTION,
        replace(result, content="Rain.\n[Timestamp: 2026-03-24 14:30:00 UTC]"),
    ]
    assert messages == [QUESTION, result]


@proves("12")
@each_row(
    "message",
    [
        result_with(response_timestamp="2026-03-24T14:30:00+00:00", skip_time_annotation=True),
        result_with(response_timestamp="yesterday"),
        result_with(response_timestamp=None),
        result_with(),
        ModelMessage("tool", "Rain.", tool_call_id="call-1", state={"_message_metadata": 5}),
        ModelMessage("tool", "Rain.", tool_call_id="call-1", state={"_message_metadata": {"a": 1}}),
        ModelMessage("tool", "Rain.", tool_call_id="call-1"),
        replace(result_with(response_timestamp="2026-03-24T14:30:00+00:00"), role="assistant"),
    ],
)
async def test_what_has_no_time_of_its_own_is_seen_as_it_is(message):
    assert await annotate([message]) == [message]


@proves("12")
@pytest.mark.parametrize("features", [None, {"timestamp": None}])
def test_an_application_can_do_without_the_time(features):
    assert clock.prepare(manifest(features=features)) is None


async def test_the_tool_alone_tells_no_time_unasked():
    tool = {
        "type": "internal-tool",
        "open_ai_tool": {
            "type": "function",
            "function": {
                "name": TOOL_NAME,
                "description": "Time",
                "parameters": {"type": "object", "properties": {}},
            },
        },
    }
    toolset = {"type": "internal", "name": "own", "tools": [tool]}
    async with opened(clock, manifest(toolset, features=None)) as found:
        assert (found.history, found.view, found.results) == ((), (), ())
        assert [item.spec.name for item in found.tools] == [TOOL_NAME]
