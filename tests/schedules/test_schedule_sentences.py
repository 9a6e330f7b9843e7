"""Schedules in words, and refused expressions."""

# ruff: noqa: RUF001

from __future__ import annotations

from datetime import UTC, datetime, time

import pytest
from django.utils.translation import override

from apps.schedules.cron import cron_problem
from apps.schedules.occurrences import ScheduleTiming
from apps.schedules.recurrence import rule_problem
from apps.schedules.rule_sentences import cron_words, rule_words
from apps.schedules.schedule_sentences import next_words, timing_words

START = datetime(2026, 1, 1, 8, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("timing", "words"),
    [
        (
            ScheduleTiming("cron", START, expression="0 9 * * MON-FRI", zone_name="Europe/Berlin"),
            "Every day from Monday to Friday at 09:00 (Europe/Berlin)",
        ),
        (ScheduleTiming("cron", START, expression="@daily"), "Every day at 00:00 (UTC)"),
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
            ScheduleTiming("rrule", START, expression="FREQ=DAILY;INTERVAL=3"),
            "Every 3 days at 08:00 (UTC)",
        ),
    ],
)
def test_a_schedule_is_told_in_words(timing, words):
    assert timing_words(timing) == words


CRON_WORDS = {
    "0 9 * * *": {
        "en": "Every day at 09:00",
        "de": "Jeden Tag um 09:00",
        "uk": "Щодня о 09:00",
        "ar": "كل يوم الساعة 09:00",
    },
    "0 9,17 * * 1-5": {
        "en": "Every day from Monday to Friday at 09:00 and 17:00",
        "de": "Montag bis Freitag um 09:00 und 17:00",
        "uk": "Щодня з понеділка по пʼятницю о 09:00 і 17:00",
        "ar": "من الاثنين إلى الجمعة الساعة 09:00 و17:00",
    },
    "0 9 * * MON": {
        "en": "Every Monday at 09:00",
        "de": "Jeden Montag um 09:00",
        "uk": "Щотижня (понеділок) о 09:00",
        "ar": "كل أسبوع (الاثنين) الساعة 09:00",
    },
    "30 18 * * 0,3,6": {
        "en": "Every Wednesday, Saturday and Sunday at 18:30",
        "de": "Jeden Mittwoch, Samstag und Sonntag um 18:30",
        "uk": "Щотижня (середа, субота і неділя) о 18:30",
        "ar": "كل أسبوع (الأربعاء، السبت والأحد) الساعة 18:30",
    },
    "0 9 15 * *": {
        "en": "On day 15 of every month at 09:00",
        "de": "Am 15. jedes Monats um 09:00",
        "uk": "15-го числа кожного місяця о 09:00",
        "ar": "في اليوم 15 من كل شهر الساعة 09:00",
    },
    "0 9 1,15 * *": {
        "en": "On days 1 and 15 of every month at 09:00",
        "de": "An den Tagen 1 und 15 jedes Monats um 09:00",
        "uk": "1 і 15 числа кожного місяця о 09:00",
        "ar": "في الأيام 1 و15 من كل شهر الساعة 09:00",
    },
    "0 9 L * *": {
        "en": "On the last day of every month at 09:00",
        "de": "Am letzten Tag jedes Monats um 09:00",
        "uk": "В останній день кожного місяця о 09:00",
        "ar": "في اليوم الأخير من كل شهر الساعة 09:00",
    },
    "0 9 * * MON#1,5L": {
        "en": "Every month on the 1st Monday and the last Friday at 09:00",
        "de": "Jeden Monat am 1. Montag und letzten Freitag um 09:00",
        "uk": "Щомісяця (понеділок, 1-й раз у місяці і п'ятниця, останній раз у місяці) о 09:00",
        "ar": "كل شهر في الاثنين رقم 1 وآخر الجمعة الساعة 09:00",
    },
    "0 0 1 JAN,JUL *": {
        "en": "Every year on 1 January and 1 July at 00:00",
        "de": "Jedes Jahr am 1. Januar und 1. Juli um 00:00",
        "uk": "Щороку 1 січня і 1 липня о 00:00",
        "ar": "كل سنة في 1 يناير و1 يوليو الساعة 00:00",
    },
    "* * * * *": {
        "en": "Every minute",
        "de": "Jede Minute",
        "uk": "Щохвилини",
        "ar": "كل دقيقة",
    },
    "*/15 * * * *": {
        "en": "Every 15 minutes",
        "de": "Alle 15 Minuten",
        "uk": "Кожні 15 хвилин",
        "ar": "كل 15 دقيقة",
    },
    "0 */6 * * *": {
        "en": "Every 6 hours",
        "de": "Alle 6 Stunden",
        "uk": "Кожні 6 годин",
        "ar": "كل 6 ساعات",
    },
    "5 * * * *": {
        "en": "Every hour between 00:05 and 23:05",
        "de": "Jede Stunde zwischen 00:05 und 23:05",
        "uk": "Щогодини між 00:05 і 23:05",
        "ar": "كل ساعة بين 00:05 و23:05",
    },
    "*/30 9-17 * * MON-FRI": {
        "en": "Monday to Friday: every 30 minutes between 09:00 and 17:30",
        "de": "Montag bis Freitag: alle 30 Minuten zwischen 09:00 und 17:30",
        "uk": "З понеділка по пʼятницю: кожні 30 хвилин між 09:00 і 17:30",
        "ar": "من الاثنين إلى الجمعة: كل 30 دقيقة بين 09:00 و17:30",
    },
    "0 */2 * * TUE,THU": {
        "en": "Tuesday and Thursday: every 2 hours",
        "de": "Dienstag und Donnerstag: alle 2 Stunden",
        "uk": "Вівторок і четвер: кожні 2 години",
        "ar": "الثلاثاء والخميس: كل ساعتين",
    },
    "*/7 9 1-5 * MON": {
        "en": "Every seventh minute from 09:00 through 09:59 on every day of month from 1 through 5 and on Monday",
        "de": "Nach dem Cron-Zeitplan \u2066*/7 9 1-5 * MON\u2069",
        "uk": "За розкладом cron \u2066*/7 9 1-5 * MON\u2069",
        "ar": "وفق جدول cron \u200f\u2066*/7 9 1-5 * MON\u2069",
    },
}
"""Each common shape of a cron expression, and a complex one, in all languages."""


@pytest.mark.parametrize("expression", CRON_WORDS)
def test_a_cron_expression_is_described_in_every_language(expression):
    found = {}
    for language in CRON_WORDS[expression]:
        with override(language):
            found[language] = cron_words(expression)

    assert found == CRON_WORDS[expression]


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("0 9 */2 * *", "At 09:00 on every second day of month"),
        ("0 9 * 12 MON", "At 09:00 on Monday in December"),
        ("0 9 LW * *", "At 09:00 on the last weekday of every month"),
        ("0 9 1 * FRI", "At 09:00 on the first day of month and on Friday"),
        ("0 9 * * MON,FRI#1", "At 09:00 on Monday and the first Friday of the month"),
        ("*/45 * * * *", "Every 45th minute of every hour"),
    ],
)
def test_other_cron_expressions_are_described_in_english_only(expression, words):
    assert cron_words(expression) == words
    with override("de"):
        assert cron_words(expression) == f"Nach dem Cron-Zeitplan \u2066{expression}\u2069"


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("FREQ=DAILY", "Every day at 08:05"),
        ("FREQ=DAILY;BYHOUR=9,17;BYMINUTE=30", "Every day at 09:30 and 17:30"),
        ("FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR", "Every day from Monday to Friday at 08:05"),
        ("FREQ=WEEKLY", "Every Thursday at 08:05"),
        ("FREQ=WEEKLY;BYDAY=FR,MO", "Every Monday and Friday at 08:05"),
        (
            "FREQ=WEEKLY;INTERVAL=2;BYMONTH=3;BYHOUR=9",
            "Every 2 weeks on Thursday at 09:05 (\u2066BYMONTH=3\u2069)",
        ),
        ("FREQ=MONTHLY", "On day 1 of every month at 08:05"),
        ("FREQ=MONTHLY;BYMONTHDAY=-1", "On the last day of every month at 08:05"),
        (
            "FREQ=MONTHLY;BYDAY=-1FR,2MO,TU",
            "Every month on the last Friday, the 2nd Monday and Tuesday at 08:05",
        ),
        (
            "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=-1",
            "Every month on Monday at 08:05 (\u2066BYSETPOS=-1\u2069)",
        ),
        ("FREQ=YEARLY", "Every year on 1 January at 08:05"),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "Every year on 29 February at 08:05"),
        (
            "FREQ=YEARLY;BYMONTH=4;BYMONTHDAY=31",
            "Every year at 08:05 (\u2066BYMONTH=4, BYMONTHDAY=31\u2069)",
        ),
    ],
)
def test_a_recurrence_rule_is_described_with_its_times(rule, words):
    assert rule_words(rule, datetime(2026, 1, 1, 8, 5, tzinfo=UTC)) == words


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
