"""Schedules in words, and expressions that are refused."""

from __future__ import annotations

from datetime import UTC, datetime, time

import pytest

from apps.schedules.cron import cron_problem
from apps.schedules.occurrences import Timing
from apps.schedules.recurrence import rule_problem
from apps.schedules.words import next_words, timing_words

START = datetime(2026, 1, 1, 8, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("timing", "words"),
    [
        (
            Timing("cron", START, expression="0 9 * * MON-FRI", zone_name="Europe/Berlin"),
            "At 09:00 on Monday through Friday (Europe/Berlin)",
        ),
        (Timing("cron", START, expression="@daily"), "At 00:00 every day (UTC)"),
        (
            Timing("interval", START, 5400, opens=time(22), closes=time(6)),
            "Every 90 minutes between 22:00 and 06:00 (UTC)",
        ),
        (Timing("interval", START, 3600), "Every hour (UTC)"),
        (
            Timing("at", START, 120),
            "On Thursday, 1 January 2026 at 08:00, then every 2 minutes (UTC)",
        ),
        (
            Timing("rrule", START, expression="FREQ=MONTHLY;BYDAY=-1FR,2MO,TU"),
            "Every month on the last Friday, the 2nd Monday, Tuesday at 08:00 (UTC)",
        ),
        (
            Timing("rrule", START, expression="FREQ=WEEKLY;INTERVAL=2;BYMONTH=3;BYHOUR=9"),
            "Every 2 weeks (BYMONTH=3, BYHOUR=9) (UTC)",
        ),
    ],
)
def test_a_schedule_is_told_in_words(timing, words):
    assert timing_words(timing) == words


def test_the_next_times_are_told_by_the_clocks_of_the_zone():
    timing = Timing("cron", START, expression="0 9 * * MON", zone_name="Europe/Berlin")

    assert next_words(timing, START) == [
        "Monday, 5 January 2026 at 09:00",
        "Monday, 12 January 2026 at 09:00",
        "Monday, 19 January 2026 at 09:00",
    ]


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("0 9 * * *", ""),
        ("@Daily", ""),
        ("0 0 9 * * *", "Write five fields"),
        ("@reboot", "Write five fields"),
        ("61 * * * *", "Bad minute"),
        ("0 0 30 2 *", "Bad day-of-month"),
        ("0 9 * * * " + " " * 300, "It has"),
    ],
)
def test_a_cron_expression_has_five_fields_with_dates_that_there_are(expression, problem):
    found = cron_problem(expression)

    assert found.startswith(problem)
    assert bool(found) == bool(problem)


RULES = {
    "FREQ=DAILY": "",
    "freq=weekly;byday=mo": "",
    "FREQ=MINUTELY": "Write a rule such as",
    "FREQ=SECONDLY": "Write a rule such as",
    "every day": "Write a rule such as",
    "FREQ=DAILY;COUNT=3": "Set how often it runs at most instead",
    "FREQ=DAILY;BYSECOND=3": "Times have whole minutes",
    "FREQ=DAILY;BYWHAT=3": "This is not supported here",
    "FREQ=DAILY;BYHOUR=9,10,11,12,13;BYMINUTE=0,10,20,30,40": "It names 25 times",
    "FREQ=DAILY\nFREQ=DAILY": "Write one rule",
    "FREQ=MONTHLY;BYSETPOS=900;BYDAY=MO": "The rule cannot be read",
    "FREQ=DAILY;BYDAY=XX": "The rule cannot be read",
    "FREQ=DAILY;INTERVAL=0": "INTERVAL: write a number",
    "FREQ=DAILY;INTERVAL=99999999999999": "INTERVAL: write a number",
    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;UNTIL=99991231T000000": "",
    "FREQ=DAILY;UNTIL=20271399": "The rule cannot be read",
    "FREQ=DAILY;UNTIL=someday": "UNTIL: write a day",
    "FREQ=DAILY;BYHOUR=25": "The rule cannot be read",
}
"""How the problem of each rule begins."""


def test_a_recurrence_rule_names_days_and_longer_and_nothing_that_never_ends():
    told = {rule: rule_problem(rule)[: len(problem) or None] for rule, problem in RULES.items()}

    assert told == RULES
