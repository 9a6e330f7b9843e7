"""The demo model recognizes phrases for alarms and schedules."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from apps.demo.calls import PlannedCall
from apps.demo.reminders import NAMES, reminders, ringing


def test_a_reminder_sets_an_alarm_after_the_time_that_was_said():
    before = datetime.now(UTC)

    [call] = reminders("Remind me in 1 minute to water the plants.", NAMES)

    at = datetime.fromisoformat(call.arguments["wakeAtISO"])
    assert (call.tool, call.arguments["reminderMessage"]) == ("alarm-clock", "water the plants")
    assert timedelta(seconds=58) < at - before < timedelta(seconds=90)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (
            "Every weekday at 7:30, what is the weather in Oslo?",
            [("schedule-task", "30 7 * * MON-FRI", "what is the weather in Oslo?")],
        ),
        (
            "Every morning tell me the time in Tokyo",
            [("schedule-task", "0 9 * * *", "tell me the time in Tokyo")],
        ),
        ("What happens every day?", []),
        ("What is the weather in Oslo?", []),
    ],
)
def test_a_daily_wish_is_scheduled(text, calls):
    found = list(reminders(text, NAMES))

    told = [(one.tool, one.arguments["cronExpression"], one.arguments["message"]) for one in found]
    assert told == calls


def test_schedules_are_listed_and_nothing_is_called_that_there_is_not():
    assert list(reminders("List my schedules", NAMES)) == [PlannedCall("list-schedules", {})]
    assert list(reminders("Remind me in 1 minute to go", ())) == []


def test_the_message_of_an_alarm_is_said_and_that_of_a_person_is_not():
    assert ringing("[The alarm that you set …]\n\nwater", "water") == "**Reminder:** water"
    assert ringing("water", "water") == ""
