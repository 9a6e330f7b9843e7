"""The model asks what time it is."""

from datetime import UTC, datetime

import pytest
import time_machine

from apps.agent.events import Event, StageClosed, StageDelta, StageOpened
from apps.agent.tools import ToolResult
from apps.capabilities.clock.capability import clock
from apps.errors import InvalidParameter
from tests.capabilities.manifests import manifest, opened, timeless, use
from tests.contract import proves

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
            "'Europe/Pariss' is not the name of an IANA time zone. Did you mean Europe/Paris",
        ),
        ("Paris", "'Paris' is not the name of an IANA time zone. Did you mean Europe/Paris"),
        ("zzz", "'zzz' is not the name of an IANA time zone. Examples: Europe/Paris, Asia/Tokyo."),
        ("../../etc/passwd", "'../../etc/passwd' is not the name of an IANA time zone."),
        ("/etc/localtime", "'/etc/localtime' is not the name of an IANA time zone."),
        ("x" * 100_000, f"'{'x' * 60}' is not the name of an IANA time zone."),
        ("Europe/\0Paris", "'Europe/\\x00Paris' is not the name of an IANA time zone."),
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
