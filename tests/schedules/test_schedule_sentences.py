"""Schedules in words, and refused expressions."""

from __future__ import annotations

from datetime import UTC, datetime, time

import pytest
from django.utils.translation import override

from apps.schedules.cron import cron_problem
from apps.schedules.occurrences import ScheduleTiming
from apps.schedules.recurrence import rule_problem
from apps.schedules.schedule_sentences import next_words, timing_words

START = datetime(2026, 1, 1, 8, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("timing", "words"),
    [
        (
            ScheduleTiming("cron", START, expression="0 9 * * MON-FRI", zone_name="Europe/Berlin"),
            "At 09:00 on Monday through Friday (Europe/Berlin)",
        ),
        (ScheduleTiming("cron", START, expression="@daily"), "At 00:00 every day (UTC)"),
        (
            ScheduleTiming("interval", START, 5400, opens=time(22), closes=time(6)),
            "Every 90 minutes between 22:00 and 06:00 (UTC)",
        ),
        (ScheduleTiming("interval", START, 3600), "Every hour (UTC)"),
        (
            ScheduleTiming("at", START, 120),
            "On Thursday, 1 Jan 2026 at 08:00, then every 2 minutes (UTC)",
        ),
        (
            ScheduleTiming("rrule", START, expression="FREQ=MONTHLY;BYDAY=-1FR,2MO,TU"),
            "Every month on the last Friday, the 2nd Monday, Tuesday at 08:00 (UTC)",
        ),
        (
            ScheduleTiming("rrule", START, expression="FREQ=WEEKLY;INTERVAL=2;BYMONTH=3;BYHOUR=9"),
            "Every 2 weeks (BYMONTH=3, BYHOUR=9) (UTC)",
        ),
    ],
)
def test_a_schedule_is_told_in_words(timing, words):
    assert timing_words(timing) == words


def test_a_cron_expression_keeps_its_order_in_texts_from_right_to_left():
    timing = ScheduleTiming("cron", START, expression="*/7 9 1-5 * MON")

    with override("ar"):
        assert "\u2066*/7 9 1-5 * MON\u2069" in timing_words(timing)


def test_the_next_times_are_told_by_the_clocks_of_the_zone():
    timing = ScheduleTiming("cron", START, expression="0 9 * * MON", zone_name="Europe/Berlin")

    assert next_words(timing, START) == [
        "Monday, 5 Jan 2026 at 09:00",
        "Monday, 12 Jan 2026 at 09:00",
        "Monday, 19 Jan 2026 at 09:00",
    ]


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("0 9 * * *", ""),
        ("@Daily", ""),
        ("0 0 9 * * *", "Enter five fields (minute, hour, day of the month, month"),
        ("@reboot", "Enter five fields (minute, hour, day of the month, month"),
        ("61 * * * *", "Bad minute"),
        ("0 0 30 2 *", "Bad day-of-month"),
        ("0 9 * * * " + " " * 300, "The expression has 310"),
    ],
)
def test_a_cron_expression_has_five_fields_with_dates_that_there_are(expression, problem):
    found = cron_problem(expression)

    assert found.startswith(problem)
    assert bool(found) == bool(problem)


RULES = {
    "FREQ=DAILY": "",
    "freq=weekly;byday=mo": "",
    "FREQ=MINUTELY": "Enter a rule such as FREQ=MONTHLY;BYDAY=-1FR. FREQ must be ",
    "FREQ=SECONDLY": "Enter a rule such as FREQ=MONTHLY;BYDAY=-1FR. FREQ must be ",
    "every day": "Enter a rule such as FREQ=MONTHLY;BYDAY=-1FR. FREQ must be ",
    "FREQ=DAILY;COUNT=3": "Set the maximum number of runs instead",
    "FREQ=DAILY;BYSECOND=3": "Times can’t include seconds",
    "FREQ=DAILY;BYWHAT=3": "This part isn’t supported",
    "FREQ=DAILY;BYHOUR=9,10,11,12,13;BYMINUTE=0,10,20,30,40": "The schedule runs",
    "FREQ=DAILY\nFREQ=DAILY": "Enter a single rule with up to",
    "FREQ=MONTHLY;BYSETPOS=900;BYDAY=MO": "The rule isn’t valid",
    "FREQ=DAILY;BYDAY=XX": "The rule isn’t valid",
    "FREQ=DAILY;INTERVAL=0": "INTERVAL must be a number",
    "FREQ=DAILY;INTERVAL=99999999999999": "INTERVAL must be a number",
    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;UNTIL=99991231T000000": "",
    "FREQ=DAILY;UNTIL=20271399": "The rule isn’t valid",
    "FREQ=DAILY;UNTIL=someday": "UNTIL must be a date such as 20271231",
    "FREQ=DAILY;BYHOUR=25": "The rule isn’t valid",
}
"""The beginning of the problem of each rule."""


def test_a_recurrence_rule_names_days_and_longer_and_nothing_that_never_ends():
    told = {rule: rule_problem(rule)[: len(problem) or None] for rule, problem in RULES.items()}

    assert told == RULES
