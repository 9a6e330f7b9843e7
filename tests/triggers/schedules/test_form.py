"""The form of a schedule: the choices, the stored values, and the preview of the next times."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.urls import reverse

from apps.schedules.models import Schedule
from apps.schedules.repeats import read_repeat
from tests.chat.scheduled.test_pages import NEW, signed_in
from tests.tables import each_row
from tests.triggers.rows import add_user, application_of

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]
PREVIEW = reverse("schedule-preview")
NOON = datetime(2026, 6, 3, 12, tzinfo=UTC)
"""A Wednesday."""


def chosen(application: Any, /, **others: Any) -> dict[str, Any]:
    """Return the data of the form. The hidden fields of *Advanced* have any values."""
    given = {
        "application": application.pk,
        "name": "News",
        "message": "What is new?",
        "time_zone": "Europe/Berlin",
        "missed": "once",
        "unanswered": "wait",
        "kind": "rrule",
        "expression": "nonsense",
        "every": "-1",
        "start_at": "x",
    }
    return {**given, **others}


CHOICES: list[tuple[dict[str, Any], tuple[str, str], list[str]]] = [
    (
        {"repeats": "once", "day": "2026-07-01", "at": "09:30"},
        ("at", ""),
        ["Wednesday, 1 Jul 2026 at 09:30"],
    ),
    (
        {"repeats": "daily", "at": "09:30"},
        ("cron", "30 9 * * *"),
        ["Thursday, 4 Jun 2026 at 09:30", "Friday, 5 Jun 2026 at 09:30"],
    ),
    (
        {"repeats": "weekdays", "at": "18:00"},
        ("cron", "0 18 * * MON-FRI"),
        ["Wednesday, 3 Jun 2026 at 18:00", "Thursday, 4 Jun 2026 at 18:00"],
    ),
    (
        {"repeats": "weekly", "at": "18:00", "days": ["SUN", "MON"]},
        ("cron", "0 18 * * MON,SUN"),
        ["Sunday, 7 Jun 2026 at 18:00", "Monday, 8 Jun 2026 at 18:00"],
    ),
    (
        {"repeats": "monthly", "at": "00:05", "month_day": "31"},
        ("cron", "5 0 31 * *"),
        ["Friday, 31 Jul 2026 at 00:05", "Monday, 31 Aug 2026 at 00:05"],
    ),
    (
        {"repeats": "monthly", "at": "09:00", "month_day": "L"},
        ("cron", "0 9 L * *"),
        ["Tuesday, 30 Jun 2026 at 09:00", "Friday, 31 Jul 2026 at 09:00"],
    ),
]


@time_machine.travel(NOON, tick=False)
def test_what_is_chosen_is_stored_previewed_and_shown_again():
    application, client = application_of(), signed_in(add_user())

    for given, stored, times in CHOICES:
        previewed = client.get(PREVIEW, {**given, "time_zone": "Europe/Berlin"}).json()
        made = client.post(NEW, chosen(application, **given))
        row = Schedule.objects.get()
        edited = client.get(reverse("schedule-edit", args=[row.pk])).context["form"]
        shown = {name: edited[name].value() for name in given}
        Schedule.objects.all().delete()

        assert (given, made.status_code) == (given, 302)
        assert (row.kind, row.expression, row.interval_seconds) == (*stored, None)
        assert (previewed["problem"], previewed["times"][: len(times)]) == ("", times)
        assert len(previewed["times"]) == (1 if given["repeats"] == "once" else 3)
        assert {**shown, "day": str(shown.get("day")), "at": f"{shown['at']:%H:%M}"} == {
            **given,
            "day": given.get("day", "None"),
            **({"days": ["MON", "SUN"]} if "days" in given else {}),
        }


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"repeats": "daily"}, "at"),
    ({"repeats": "daily", "at": "25:00"}, "at"),
    ({"repeats": "weekly", "at": "09:00"}, "days"),
    ({"repeats": "weekly", "at": "09:00", "days": ["XXX"]}, "days"),
    ({"repeats": "monthly", "at": "09:00", "month_day": "32"}, "month_day"),
    ({"repeats": "once", "at": "09:00"}, "day"),
    ({"repeats": "once", "at": "09:00", "day": "9999-12-31"}, "day"),
    ({"repeats": "once", "at": "09:00", "day": "0001-01-01"}, "day"),
    ({"repeats": "hourly", "at": "09:00"}, "repeats"),
    ({"repeats": "daily", "at": "09:00", "time_zone": "Mars"}, "time_zone"),
    (
        {"repeats": "daily", "at": "03:00", "active_from": "08:00", "active_until": "9:00"},
        "at",
    ),
    ({"repeats": "daily", "at": "09:00", "time_zone": "localtime"}, "time_zone"),
    ({"repeats": "daily", "at": "09:00", "time_zone": "Factory"}, "time_zone"),
    *(
        ({"repeats": "advanced", "kind": "cron", "expression": one}, "expression")
        for one in (
            "0 0 9 * * *",
            "*/99999999999 * * * *",
            "0 1-5/25 * * *",
            "0 0 1,2/32 * *",
            "0 0 * * 1#2/3",
        )
    ),
    ({"repeats": "advanced", "kind": "interval", "every": "", "unit": "hours"}, "every"),
    *(
        (
            {"repeats": "advanced", "kind": "at", "start_at": start_at, "time_zone": zone},
            "start_at",
        )
        for start_at in ("0001-01-01T00:00", "0001-01-01T00:00:01", "9999-12-31T23:59")
        for zone in ("America/Los_Angeles", "Asia/Tokyo", "UTC")
    ),
]


def test_what_is_missing_or_never_comes_is_reported_at_its_field_and_in_the_preview():
    application, client = application_of(), signed_in(add_user())

    for given, field in MISTAKES:
        sent = chosen(application) | {"start_at": "", "expression": "0 9 * * *"} | given
        answer = client.post(NEW, sent)
        errors = answer.context["form"].errors
        timing = {name: sent[name] for name in sent if name not in ("name", "message")}
        previewed = client.get(PREVIEW, timing).json()

        assert (given, answer.status_code, field in errors) == (given, 400, True)
        assert (previewed["times"], bool(previewed["problem"])) == ([], True)
    assert not Schedule.objects.exists()


@each_row("day", ["0001-01-01", "1899-12-31", "2200-01-01", "9999-12-31"])
def test_a_date_out_of_bounds_is_refused_in_the_words_of_the_column(day):
    application, client = application_of(), signed_in(add_user())

    answer = client.post(NEW, chosen(application) | {"repeats": "once", "at": "09:00", "day": day})

    assert answer.context["form"].errors == {"day": ["Enter a date from 1900 to 2199."]}


def test_the_preview_is_for_people_who_are_signed_in_and_stores_nothing(client):
    asked = client.get(PREVIEW, {"repeats": "daily", "at": "09:00"})

    assert (asked.status_code, asked["Location"].split("?")[0]) == (302, "/accounts/login/")


@each_row(
    "expression",
    [
        *("", "*/5 9 * * *", "0 9,10 * * *", "0 9 * 6 *", "0 9 1 * MON", "60 9 * * *"),
        *("0 24 * * *", "0 9 32 * *", "0 9 0 * *", "0 9 * * XXX", "0 0 9 * * *", "0 9 * * 1#2"),
    ],
)
def test_other_expressions_are_left_to_advanced(expression):
    assert read_repeat(expression) is None


@each_row(
    ("expression", "simple"),
    [
        ("@daily", "0 0 * * *"),
        ("0 9 * * 1-5", "0 9 * * MON-FRI"),
        ("05 09 * * 0,6", "5 9 * * SAT,SUN"),
        ("0 9 01 * *", "0 9 1 * *"),
    ],
)
def test_an_expression_with_the_same_times_as_a_simple_repetition_is_one(expression, simple):
    repeat = read_repeat(expression)

    assert repeat is not None
    assert repeat.expression == simple


def test_each_field_is_shown_once_and_choices_begin_with_a_capital_letter():
    application_of()
    page = signed_in(add_user()).get(NEW)
    form = page.context["form"]
    further = [field.name for group in form.more for _, fields in group.rows for field in fields]

    shown = [field.name for field in (*form.main, *(field for *_, field in form.times))]
    assert sorted([*shown, *further]) == sorted(form.fields)
    for name in ("kind", "missed", "unanswered"):
        assert all(label[0].isupper() for _, label in form.fields[name].choices)
    assert 'data-shown-if="unanswered:deny"' in page.text
    assert '<option value="America/New_York">America/New York</option>' in page.text
