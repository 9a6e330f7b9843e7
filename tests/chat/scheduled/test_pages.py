"""The page on which users see and change their schedules."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.teams import TEAM
from apps.live.models import Run
from apps.schedules import user_schedules
from apps.schedules.models import NO_TIME_LEFT, Schedule
from tests.triggers.rows import add_schedule, add_team, add_user, application_of

pytestmark = pytest.mark.django_db
NEW = reverse("schedule-add")
LIST = reverse("schedules")


def signed_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def fields(application: Any, /, **others: Any) -> dict[str, Any]:
    given = {
        "application": application.pk,
        "name": "News",
        "message": "What is new?",
        "kind": "cron",
        "unit": "hours",
        "expression": "0 9 * * MON-FRI",
        "time_zone": "Europe/Berlin",
        "missed": "once",
        "unanswered": "wait",
    }
    return {**given, **others}


def test_a_schedule_is_made_listed_with_its_next_times_and_deleted():
    ada, application = add_user(), application_of()
    client = signed_in(ada)

    assert "Choose an app</option>" in client.get(NEW).text
    made = client.post(NEW, fields(application, active_from="08:00", active_until="18:00"))
    row = Schedule.objects.get()
    page = client.get(LIST).content.decode()
    client.post(reverse("schedule-delete", args=[row.pk]))

    assert made.status_code == 302
    assert (row.owner, row.user, row.team, row.made_by) == (f"user-{ada.pk}", ada, None, "person")
    assert (row.active_from, row.active_until) == (time(8), time(18))
    assert row.caller["user_id"] == ada.pk
    assert (
        "Every day from Monday to Friday at 09:00 between 08:00 and 18:00 (Europe/Berlin)" in page
    )
    assert page.count(" at 09:00</li>") == 3
    assert not Schedule.objects.exists()


def test_times_of_the_form_are_on_the_clocks_of_the_zone_and_come_back_so():
    ada, application = add_user(), application_of()
    client = signed_in(ada)

    given = fields(
        application, kind="at", expression="", start_at="2030-07-01T09:30", every=2, unit="hours"
    )
    client.post(NEW, given)
    row = Schedule.objects.get()
    page = client.get(reverse("schedule-edit", args=[row.pk])).content.decode()

    assert row.start_at == row.next_at == datetime(2030, 7, 1, 7, 30, tzinfo=UTC)
    assert row.interval_seconds == 7200
    assert 'value="2030-07-01T09:30"' in page
    assert 'name="every" value="2"' in page


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"expression": "0 0 9 * * *"}, "expression"),
    ({"time_zone": "Mars"}, "time_zone"),
    ({"kind": "interval", "every": ""}, "every"),
    ({"kind": "interval", "every": 30, "unit": "seconds"}, "every"),
    ({"message": "  "}, "message"),
    ({"active_from": "08:00"}, "active_until"),
    ({"expression": "0 3 * * *", "active_from": "08:00", "active_until": "9:00"}, "expression"),
    ({"application": 0}, "application"),
    ({"budget_tokens": 0}, "budget_tokens"),
    ({"pinned_version": 7}, "pinned_version"),
]


def test_what_cannot_be_scheduled_is_said_at_its_field():
    application, closed = application_of(), application_of(is_shared=False)
    client = signed_in(add_user())

    for given, field in [*MISTAKES, ({"application": closed.pk}, "application")]:
        response = client.post(NEW, fields(application) | given)
        errors = list(response.context["form"].errors)
        assert (given, response.status_code, errors) == (given, 400, [field])
    assert not Schedule.objects.exists()


def test_one_too_many_is_refused_in_words(monkeypatch):
    monkeypatch.setattr(user_schedules, "MOST_SCHEDULES", 1)
    ada, application = add_user(), application_of()
    add_schedule(application, ada)

    response = signed_in(ada).post(NEW, fields(application))

    assert "maximum number of schedules" in response.content.decode()
    assert Schedule.objects.count() == 1


def test_a_schedule_runs_now_is_paused_and_goes_on():
    ada, application = add_user(), application_of()
    row = add_schedule(application, ada, kind="cron", expression="0 9 * * *")
    client = signed_in(ada)

    client.post(reverse("schedule-pause", args=[row.pk]))
    paused = client.get(LIST).content.decode()
    client.post(reverse("schedule-run", args=[row.pk]))
    client.post(reverse("schedule-resume", args=[row.pk]))

    row.refresh_from_db()
    assert "You paused this schedule." in paused
    assert Run.objects.get().pk == row.last_run
    assert (row.is_paused, row.run_count) == (False, 1)
    assert row.next_at is not None
    assert row.next_at > timezone.now()
    page = client.get(LIST).content.decode()
    assert "Queued" in page
    assert f"/chat/{application.slug}/{row.last_conversation}/" in page


def test_what_has_no_time_any_more_stays_paused():
    ada = add_user()
    row = add_schedule(application_of(), ada)
    Schedule.objects.update(last_at=row.start_at, next_at=None, is_paused=True)

    page = signed_in(ada).post(reverse("schedule-resume", args=[row.pk]), follow=True)

    row.refresh_from_db()
    assert (row.is_paused, row.pause_reason) == (True, NO_TIME_LEFT)
    assert "The schedule has no future runs. Change its times first" in page.content.decode()


def test_nobody_sees_or_changes_what_another_person_or_team_has_scheduled():
    ada, application = add_user(), application_of()
    team = add_team(ada)
    mine = add_schedule(application, ada, name="Private")
    ours = add_schedule(application, ada, team, name="Of the team")
    stranger, alone, working = signed_in(add_user()), signed_in(ada), signed_in(ada)
    session = working.session
    session[TEAM] = team.pk
    session.save()

    pages = [client.get(LIST).content.decode() for client in (stranger, alone, working)]

    seen = [["Private" in page, "Of the team" in page] for page in pages]
    assert seen == [[False, False], [True, False], [False, True]]
    for client, row in ((stranger, mine), (alone, ours), (working, mine)):
        for name in ("run", "pause", "resume", "delete", "edit"):
            assert client.post(reverse(f"schedule-{name}", args=[row.pk])).status_code == 404
    assert Schedule.objects.count() == 2


def test_visitors_are_asked_to_sign_in():
    assert Client().get(LIST)["Location"].startswith("/accounts/login/")


def test_a_version_is_chosen_and_shown():
    ada, application = add_user(), application_of()
    client = signed_in(ada)

    client.post(NEW, fields(application, pinned_version=1))
    page = client.get(LIST).content.decode()
    row = Schedule.objects.get()
    client.post(reverse("schedule-edit", args=[row.pk]), fields(application, pinned_version=""))

    assert "<span>version 1</span>" in page
    assert "</bdi></span><span>Every day" in client.get(LIST).content.decode()
