"""`/api/schedules/` and the admin: schedules of programs, and the times of users' schedules without
their messages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from apps.accounts.models import ServiceAccount
from apps.catalog.models import Grant, Role
from apps.console.operated_schedules import OF_OPERATORS
from apps.conversations.models import Conversation
from apps.live.models import Run
from apps.schedules import user_schedules
from apps.schedules.models import Schedule
from apps.schedules.proposals import WAITS, accept_proposal, proposed_changes
from apps.triggers.access_problems import NO_RIGHTS
from apps.triggers.schedules.callers import LOST
from tests.triggers.rows import NOON, add_schedule, add_user, application_of, fired

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]
MAY = ("view_schedule", "add_schedule", "change_schedule")
DAY = timedelta(days=1)
BERLIN_NOON = NOON - timedelta(hours=2)


def operator(*codes: str) -> tuple[Client, Any]:
    user = add_user()
    user.is_staff = True
    user.save()
    user.user_permissions.set(Permission.objects.filter(codename__in=codes))
    client = Client()
    client.force_login(user)
    return client, user


def test_an_operator_sees_schedules_of_the_own_applications_and_pauses_them():
    client, user = operator("view_schedule", "change_schedule")
    mine, other = application_of(owner=user), application_of()
    ada = add_user()
    row = add_schedule(mine, ada, name="Private", kind="cron", expression="@daily")
    hidden = add_schedule(other, ada)

    listed = client.get("/api/schedules/").json()["results"]
    page = client.get("/admin/schedules/schedule/").content.decode()
    body = {"is_paused": True}
    paused = client.patch(f"/api/schedules/{row.pk}/", body, "application/json").json()
    not_mine = client.patch(f"/api/schedules/{hidden.pk}/", body, "application/json")
    resumed = client.patch(f"/api/schedules/{row.pk}/", {"is_paused": False}, "application/json")

    assert [(one["id"], one["runs"]) for one in listed] == [
        (str(row.pk), "Every day at 00:00 (UTC)")
    ]
    assert "Private" not in str(listed) + page
    assert "What is new?" not in str(listed) + page
    assert "Every day at 00:00" in page
    assert (paused["is_paused"], paused["pause_reason"]) == (True, OF_OPERATORS)
    assert (not_mine.status_code, resumed.status_code) == (404, 400)
    assert Schedule.objects.get(pk=row.pk).is_paused


def test_the_list_and_the_form_show_times_in_the_zone_of_each_schedule():
    client, user = operator("view_schedule", "change_schedule")
    row = add_schedule(application_of(owner=user), add_user(), time_zone="Europe/Berlin")
    Schedule.objects.filter(pk=row.pk).update(
        next_at=datetime(2026, 12, 7, 7, tzinfo=UTC), last_at=datetime(2026, 7, 6, 6, tzinfo=UTC)
    )

    page = client.get("/admin/schedules/schedule/").content.decode()

    assert 'title="7 Dec 2026, 08:00:00 CET">7 Dec 2026, 08:00</time>' in page
    last = 'title="6 Jul 2026, 08:00:00 CEST">6 Jul 2026, 08:00</time>'
    assert last in page
    assert last in client.get(f"/admin/schedules/schedule/{row.pk}/change/").text


def test_a_schedule_without_a_message_has_one_error_for_it():
    client, _ = operator(*MAY)

    form = client.post("/admin/schedules/schedule/add/", {"message": ""}).context["adminform"].form

    assert form.errors["message"] == ["This field is required."]


def test_schedules_are_paused_in_the_admin():
    client, user = operator("view_schedule", "change_schedule")
    row = add_schedule(application_of(owner=user), add_user(), kind="cron", expression="@daily")

    chosen = {"action": "pause_selected", "_selected_action": [str(row.pk)]}
    client.post("/admin/schedules/schedule/", chosen)

    row.refresh_from_db()
    assert (row.is_paused, row.pause_reason) == (True, OF_OPERATORS)


def test_without_the_permission_nothing_is_seen_or_changed():
    client, user = operator("view_schedule")
    row = add_schedule(application_of(owner=user), add_user())

    changed = client.patch(f"/api/schedules/{row.pk}/", {"is_paused": True}, "application/json")
    made = client.post("/api/schedules/", {}, "application/json")

    assert (changed.status_code, made.status_code) == (403, 403)
    assert operator()[0].get("/api/schedules/").status_code == 403


def owner_page(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def typed(**fields: Any) -> dict[str, Any]:
    """Return the form of the admin, as a browser sends it."""
    return {
        "kind": "cron",
        "start_at": "2026-05-04T12:00",
        "expression": "0 7 * * *",
        "unit": "hours",
        "time_zone": "Europe/Berlin",
        "unanswered": "wait",
        "unanswered_minutes": "60",
        "missed": "once",
        "missed_most": "3",
        "budget_tokens": "500",
        "budget_currency": "USD",
        **fields,
    }


def test_what_an_operator_changes_waits_until_the_owner_agrees():
    client, user = operator(*MAY)
    application, ada = application_of(owner=user), add_user()
    row = add_schedule(application, ada, name="Private", kind="cron", expression="0 9 * * *")
    page = f"/admin/schedules/schedule/{row.pk}/change/"

    form = client.get(page).content.decode()
    told = client.post(page, typed(), follow=True).content.decode()

    row.refresh_from_db()
    theirs = owner_page(ada)
    listed = theirs.get("/scheduled/").content.decode()
    api = client.get(f"/api/schedules/{row.pk}/").json()
    assert "Private" not in form + told + str(api)
    assert f"The schedule is paused until {ada} accepts" in told
    assert (row.is_paused, row.pause_reason, row.expression) == (True, WAITS, "0 9 * * *")
    assert fired(NOON + DAY, application).rows == 0
    assert api["differences"] == [
        {
            "label": "Times",
            "before": "Every day at 09:00 (UTC)",
            "after": "Every day at 07:00 (Europe/Berlin)",
        },
        {"label": "Token budget", "before": "none", "after": "500"},
    ]
    assert all(one["after"] in listed for one in api["differences"])
    assert f'Changes proposed by <span dir="auto">{user}</span>' in listed

    theirs.post(f"/scheduled/{row.pk}/agree/")

    row.refresh_from_db()
    assert (row.expression, row.time_zone, row.budget_tokens) == ("0 7 * * *", "Europe/Berlin", 500)
    assert (row.start_at, row.proposal, row.is_paused) == (BERLIN_NOON, None, False)


def test_an_owner_takes_back_what_an_operator_wishes_and_nobody_else_does():
    client, user = operator(*MAY)
    application, ada = application_of(owner=user), add_user()
    row = add_schedule(application, ada, kind="cron", expression="0 9 * * *")
    address = f"/api/schedules/{row.pk}/"
    bob = owner_page(add_user())

    wished = client.patch(address, {"expression": "@hourly"}, "application/json").json()
    refused = [
        client.patch(address, {"is_paused": False}, "application/json").status_code,
        client.patch(address, {"message": "Other"}, "application/json").status_code,
        client.post(f"{address}agree/").status_code,
        bob.post(f"/scheduled/{row.pk}/agree/").status_code,
        bob.post(f"/scheduled/{row.pk}/take-back/").status_code,
    ]
    ada.is_staff = True
    ada.save()
    kept = owner_page(ada).post(f"{address}take-back/").json()

    row.refresh_from_db()
    assert (wished["is_paused"], wished["expression"]) == (True, "0 9 * * *")
    assert refused == [400, 400, 404, 404, 404]
    assert (kept["is_paused"], kept["differences"], kept["name"]) == (False, [], "Report")
    assert (row.expression, row.proposal, row.is_paused) == ("0 9 * * *", None, False)


def test_a_schedule_that_was_paused_stays_so_whatever_its_owner_decides():
    client, user = operator(*MAY)
    row = add_schedule(application_of(owner=user), add_user(), kind="cron", expression="@daily")
    user_schedules.pause(row, "Holidays")
    address = f"/api/schedules/{row.pk}/"

    client.patch(address, {"expression": "@hourly"}, "application/json")
    client.patch(address, {"max_runs": 3}, "application/json")
    waiting = Schedule.objects.get(pk=row.pk)
    agreed = accept_proposal(waiting)

    assert [one.label for one in proposed_changes(waiting)] == ["Maximum runs"]
    assert (agreed.expression, agreed.max_runs) == ("@daily", 3)
    assert (agreed.is_paused, agreed.pause_reason) == (True, "Holidays")


@pytest.mark.parametrize("door", ["admin", "api"])
def test_a_schedule_that_an_operator_makes_for_a_program_asks_with_its_rights(door: str):
    client, user = operator(*MAY)
    application = application_of(owner=user, is_shared=False)
    account = ServiceAccount.objects.create(user=add_user("robot"))
    boss = ServiceAccount.objects.create(user=User.objects.create_superuser("boss"))
    Grant.objects.create(application=application, user=account.user, role=Role.USER)

    def send(number: Any) -> Any:
        asked = {"name": "Report", "message": "What is new?", "kind": "interval"}
        times = {"interval_seconds": 3600, "start_at": "2026-05-04T12:00Z", "time_zone": "UTC"}
        if door == "api":
            names = {"application": application.slug, "account": str(number)}
            sent = {**asked, **times, **names, "budget_tokens": 500}
            return client.post("/api/schedules/", sent, "application/json")
        places = {"application": application.pk, "account": number}
        every = {"every": 1, "start_at": "2026-05-04T12:00", "time_zone": "UTC"}
        sent = typed(**asked, **every, expression="", **places)
        return client.post("/admin/schedules/schedule/add/", sent)

    made = {"admin": (account.pk, boss.pk), "api": ("robot", "boss")}[door]
    refused = send(made[1])
    answer = send(made[0])

    row = Schedule.objects.get()
    assert (refused.status_code, answer.status_code) == {"admin": (200, 302), "api": (400, 201)}[
        door
    ]
    assert (row.user, row.made_by, row.saved_by) == (account.user, "operator", user)
    row.next_at = NOON
    row.save()
    [woken] = fired(NOON, application).woken
    run, conversation = Run.objects.get(), Conversation.objects.get()
    assert woken.problem == ""
    assert run.bucket == conversation.owner == f"user-{account.user_id}"
    assert not conversation.has_memory
    assert (run.unattended or {})["budget"]["tokens"] == 500

    # Changes by its own operator need no consent.
    client.patch(f"/api/schedules/{row.pk}/", {"message": "And now?"}, "application/json")
    Run.objects.update(status="done")
    Grant.objects.all().delete()
    Schedule.objects.update(next_at=NOON)
    fired(NOON, application)

    row.refresh_from_db()
    assert (row.message, row.proposal) == ("And now?", None)
    assert (row.is_paused, row.pause_reason) == (True, LOST)


def test_a_schedule_reports_that_its_account_may_not_use_its_application():
    client, user = operator(*MAY)
    application = application_of(owner=user, is_shared=False)
    account = ServiceAccount.objects.create(user=add_user("robot"))
    asked = {"name": "Report", "message": "What is new?", "kind": "interval", "time_zone": "UTC"}
    times = {"interval_seconds": 3600, "start_at": "2026-05-04T12:00Z"}
    of = {"application": application.slug, "account": "robot"}

    made = client.post("/api/schedules/", {**asked, **times, **of}, "application/json").json()
    typed_again = typed(**asked, every=1, start_at="2026-05-04T12:00", expression="")
    page = f"/admin/schedules/schedule/{made['id']}/change/"
    warned = client.post(page, typed_again, follow=True).content.decode()
    Grant.objects.create(application=application, user=account.user, role=Role.USER)
    changed = client.patch(f"/api/schedules/{made['id']}/", {"name": "B"}, "application/json")

    assert made["last_problem"] == NO_RIGHTS
    assert f"The schedule cannot run: {NO_RIGHTS}" in warned
    assert changed.json()["last_problem"] == ""


def test_an_operator_reads_which_version_answers_a_person_and_cannot_change_it():
    client, user = operator(*MAY)
    application = application_of(owner=user)
    row = add_schedule(application, add_user(), kind="cron", expression="@daily", pinned_version=1)
    address = f"/admin/schedules/schedule/{row.pk}/change/"

    page = client.get(address).content.decode()
    body = {"pinned_version": None}
    refused = client.patch(f"/api/schedules/{row.pk}/", body, "application/json")
    Schedule.objects.update(pinned_version=7)
    form = {"kind": "cron", "expression": "@hourly", "unit": "hours", "time_zone": "UTC"}
    limits = {"unanswered": "wait", "unanswered_minutes": 60, "missed": "once", "missed_most": 3}
    told = client.post(address, {**form, **limits, "budget_currency": "USD"})

    assert "version 1" in page
    assert 'name="pinned_version"' not in page
    assert (refused.status_code, told.status_code) == (400, 200)
    assert "Version 7 of the app doesn’t exist or was withdrawn." in told.content.decode()


def test_a_list_and_a_form_name_the_schedules_that_an_operator_may_read():
    client, user = operator("view_schedule", "change_schedule")
    application = application_of(owner=user)
    ada = add_user()
    ada.first_name, ada.last_name = "Ada", "King"
    ada.save()
    timing: dict[str, Any] = {"kind": "cron", "expression": "@daily"}
    own = add_schedule(application, user, name="Report of mine", **timing)
    add_schedule(application, ada, name="Report in private", **timing)
    program = ServiceAccount.objects.create(user=add_user("nightly"))
    add_schedule(application, program.user, name="Report of delays", **timing)

    page = client.get("/admin/schedules/schedule/")
    found = client.get("/admin/schedules/schedule/", {"q": "report"})
    form = client.get(f"/admin/schedules/schedule/{own.pk}/change/")

    assert {row.shown_name for row in page.context["cl"].result_list} == {
        "Report of mine",
        "Report of delays",
        "Schedule of Ada King",
    }
    assert {row.shown_name for row in found.context["cl"].result_list} == {
        "Report of mine",
        "Report of delays",
    }
    assert form.context["subtitle"] == "Report of mine"


@pytest.mark.parametrize(
    ("chosen", "expression"),
    [
        ({"repeats": "daily", "at": "07:30"}, "30 7 * * *"),
        ({"repeats": "weekdays", "at": "07:30"}, "30 7 * * MON-FRI"),
        ({"repeats": "weekly", "days": ["TUE", "SUN"], "at": "07:30"}, "30 7 * * TUE,SUN"),
        ({"repeats": "monthly", "month_day": "L", "at": "07:30"}, "30 7 L * *"),
        ({"repeats": "advanced", "expression": "*/5 * * * *"}, "*/5 * * * *"),
    ],
)
def test_the_times_of_a_schedule_are_chosen_in_words(chosen, expression):
    client, user = operator(*MAY)
    application = application_of(owner=user)
    row = add_schedule(application, user, kind="cron", expression="@hourly")
    page = f"/admin/schedules/schedule/{row.pk}/change/"

    answer = client.post(page, typed(name="Report", message="What is new?", **chosen))

    row.refresh_from_db()
    assert (answer.status_code, row.kind, row.expression) == (302, "cron", expression)
    assert client.get(page).context["adminform"].form["repeats"].initial == chosen["repeats"]


def test_the_form_of_a_schedule_names_what_is_missing():
    client, user = operator(*MAY)
    row = add_schedule(application_of(owner=user), user, kind="cron", expression="@hourly")
    page = f"/admin/schedules/schedule/{row.pk}/change/"

    weekly = client.post(page, typed(name="Report", message="News?", repeats="weekly"))

    assert set(weekly.context["adminform"].form.errors) == {"at", "days"}


def test_an_operator_without_the_permission_to_change_a_schedule_reads_its_columns():
    client, user = operator("view_schedule")
    row = add_schedule(application_of(owner=user), user, kind="cron", expression="5 4 * * *")

    page = client.get(f"/admin/schedules/schedule/{row.pk}/change/").text

    assert "5 4 * * *" in page
    assert 'name="repeats"' not in page
