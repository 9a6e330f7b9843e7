"""Each due message is sent once, as its owner, while the owner may use the application."""

from __future__ import annotations

from datetime import datetime, timedelta
from importlib import import_module
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.apps import apps
from django.core.exceptions import ValidationError

from apps.accounts.caller import caller_in
from apps.accounts.models import ApiKey, ServiceAccount
from apps.catalog.acting_accounts import NOT_MANAGED
from apps.catalog.actions import publish, save_draft, withdraw
from apps.catalog.models import Application, Grant, Role
from apps.catalog.resolve import forget_applications
from apps.chat.scheduled.pages import list_schedules
from apps.chat.socket.tab_updates import attention
from apps.conversations.models import Conversation, Message, QueuedMessage
from apps.conversations.spoken import spoken_text
from apps.insights.budgets.models import Budget
from apps.live.models import JournalEntry, Run
from apps.schedules.models import NO_TIME_LEFT, Schedule
from apps.schedules.user_schedules import pause
from apps.triggers.schedules.callers import LOST, WITHDRAWN, Callers
from apps.triggers.schedules.clock import resolve_applications
from apps.triggers.schedules.due import GOING_ON, FiringReport, due_names, fire
from tests.contract import proves
from tests.triggers.rows import (
    MINUTE,
    NOON,
    add_schedule,
    add_team,
    add_user,
    application_of,
    fired,
)

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]
HOURLY: dict[str, Any] = {"kind": "interval", "interval_seconds": 3600}
HOUR = timedelta(hours=1)


def test_a_schedule_asks_at_its_time_once_and_its_run_stands_queued():
    application, ada = application_of(), add_user()
    row = add_schedule(application, ada, budget_tokens=500)

    early = fired(NOON - MINUTE, application)
    [woken] = fired(NOON, application).woken
    again = fired(NOON, application)

    row.refresh_from_db()
    run, conversation = Run.objects.get(), Conversation.objects.get()
    question = Message.objects.get()
    assert (early.rows, again.rows) == (0, 0)
    assert (run.status, run.holder, run.bucket) == ("queued", "", f"user-{ada.pk}")
    assert (conversation.owner, conversation.title) == (run.bucket, "Report")
    assert (question.text, question.run_id) == ("What is new?", run.pk)
    sender = {
        "kind": "schedule",
        "title": "Report",
        "untrusted": False,
        "at": "2026-05-04T12:00:00+00:00",
    }
    assert (question.sender, question.place) == (sender, None)
    assert run.unattended == {
        "seconds": None,
        "saved_by": ada.pk,
        "budget": {"tokens": 500, "money": None, "currency": "USD"},
    }
    assert spoken_text(question).text.startswith("[The schedule “Report” asks this at its time")
    [shown, _] = JournalEntry.objects.get(stream=conversation.pk).events
    assert shown["message"]["sender"] == sender
    assert (row.last_run, row.last_conversation) == (run.pk, conversation.pk)
    assert (row.run_count, row.next_at, row.is_paused) == (1, None, True)
    assert row.pause_reason == NO_TIME_LEFT
    assert woken.conversation == conversation.pk


def test_a_repeated_schedule_asks_in_new_conversations_or_in_the_same_one():
    application, ada = application_of(), add_user()
    fresh = add_schedule(application, ada, **HOURLY)
    same = add_schedule(application, ada, **HOURLY, is_same_conversation=True)

    fired(NOON, application)
    Run.objects.update(status="done")
    fired(NOON + HOUR, application)

    for row in (fresh, same):
        row.refresh_from_db()
    assert Conversation.objects.count() == 3
    assert Message.objects.filter(conversation=same.conversation).count() == 2
    assert (fresh.run_count, same.run_count) == (2, 2)
    assert fresh.next_at == same.next_at == NOON + 2 * HOUR


def test_what_comes_while_the_last_run_is_still_answered_is_left_out():
    application = application_of()
    row = add_schedule(application, add_user(), **HOURLY)
    fired(NOON, application)

    fired(NOON + HOUR, application)

    row.refresh_from_db()
    assert (row.run_count, row.last_problem) == (1, GOING_ON)
    assert row.next_at == NOON + 2 * HOUR


def test_a_message_waits_where_its_conversation_is_busy_and_is_not_lost():
    application = application_of()
    row = add_schedule(application, add_user(), **HOURLY, is_same_conversation=True)
    [first] = fired(NOON, application).woken
    Run.objects.update(status="done")
    # Its user asks something there.
    Run.objects.create(
        stream=first.conversation, request=first.conversation, application="x", bucket="other"
    )

    [second] = fired(NOON + HOUR, application).woken

    row.refresh_from_db()
    waiting = QueuedMessage.objects.get()
    assert second.is_waiting
    assert (waiting.pk, waiting.text) == (row.last_run, "What is new?")
    assert (waiting.sender or {})["title"] == "Report"


def test_missed_times_are_asked_each_and_no_more_often_than_it_may_run():
    application = application_of()
    row = add_schedule(application, add_user(), **HOURLY, missed="all", missed_most=5, max_runs=3)

    woken = fired(NOON + 10 * HOUR, application).woken

    row.refresh_from_db()
    assert len(woken) == Run.objects.count() == 3
    assert (row.run_count, row.is_paused, row.pause_reason) == (3, True, NO_TIME_LEFT)


def test_a_skipped_time_moves_on_without_a_run():
    application = application_of()
    row = add_schedule(application, add_user(), **HOURLY, missed="skip")

    found = fired(NOON + 90 * MINUTE, application)

    row.refresh_from_db()
    assert (found.rows, Run.objects.count()) == (1, 0)
    assert (row.next_at, row.run_count) == (NOON + 2 * HOUR, 0)


@proves("D-41")
def test_an_alarm_and_what_is_deleted_after_its_end_are_gone_then():
    application, ada = application_of(), add_user()
    add_schedule(application, ada, is_alarm=True, is_same_conversation=True)
    add_schedule(application, ada, **HOURLY, max_runs=1, is_deleted_after=True)

    fired(NOON, application)

    assert Run.objects.count() == 2
    assert not Schedule.objects.exists()


@pytest.mark.parametrize(
    "lost",
    [
        "account",
        "application",
        "team",
        "The schedule’s account can no longer use the app, or the app is disabled",
        "key",
        "right of the key",
    ],
)
def test_a_schedule_is_paused_with_the_reason_once_its_owner_may_not_ask_any_more(lost):
    application, ada = application_of(), add_user()
    team = add_team(ada)
    row = add_schedule(application, ada, team, **HOURLY)
    key: Any = ApiKey.objects.create_key(name="cron", user=ada)[0]
    if "key" in lost:
        row.owner, row.caller = f"key-{key.prefix}", {**row.caller, "kind": "key", "team": None}
        row.save()
    match lost:
        case "key":
            key.revoked = True
            key.save()
        case "right of the key":
            key.applications.set([application_of()])
        case "account":
            ada.is_active = False
            ada.save()
        case "application":
            application.is_shared = False
            application.save()
        case "team":
            ada.groups.clear()
        case _:
            application.is_enabled = False
            application.save()

    fired(NOON, application)

    row.refresh_from_db()
    reasons = {
        "account": "The account of the user who sent the question was deactivated or deleted.",
        "team": "The user who sent the question is no longer in the team.",
        "key": "The API key that was used to send the question is no longer valid.",
    }
    assert not Run.objects.exists()
    assert (row.is_paused, row.pause_reason) == (True, reasons.get(lost, LOST))
    assert fired(NOON + HOUR, application).rows == 0


def test_a_schedule_does_not_lend_a_role_that_its_service_account_received_later(caplog):
    application, robot, olga = application_of(), add_user(), add_user("olga")
    ServiceAccount.objects.create(user=robot)
    row = add_schedule(application, robot, saved_by=olga, **HOURLY)
    own = add_schedule(application, robot, **HOURLY)

    fired(NOON, application)
    Run.objects.update(status="done")
    Grant.objects.create(application=application_of(is_shared=False), user=robot, role=Role.USER)
    fired(NOON + HOUR, application)

    row.refresh_from_db()
    own.refresh_from_db()
    reason = NOT_MANAGED.format(user="olga")
    assert (row.run_count, row.is_paused, row.last_problem) == (1, True, reason)
    assert (own.run_count, own.is_paused, own.last_problem) == (2, False, "")
    assert f"Schedule {row.pk} was stopped: {reason}" in caplog.messages


def test_the_migration_removes_the_account_as_the_saver_of_schedules_that_its_model_made():
    application, robot, ada = application_of(), add_user(), add_user("ada")
    ServiceAccount.objects.create(user=robot)
    rows = {
        "model": add_schedule(application, robot, made_by="model", budget_tokens=1, **HOURLY),
        "operator": add_schedule(application, robot, made_by="operator", **HOURLY),
        "person": add_schedule(application, ada, made_by="model", budget_tokens=1, **HOURLY),
    }

    module = import_module("apps.schedules.migrations.0007_savers_of_model_schedules")
    module.remove_own_accounts(apps, None)

    found = {name: Schedule.objects.get(pk=row.pk).saved_by for name, row in rows.items()}
    assert found == {"model": None, "operator": robot, "person": ada}


def test_a_spent_budget_is_told_and_the_next_time_tries_again():
    application, ada = application_of(), add_user()
    row = add_schedule(application, ada, **HOURLY)
    Budget.objects.create(subject_kind="user", user=ada, amount=0, window="month")

    fired(NOON, application)

    row.refresh_from_db()
    assert not Run.objects.exists()
    assert (row.is_paused, row.next_at) == (False, NOON + HOUR)
    assert "used up" in row.last_problem


def test_a_run_of_a_team_is_in_the_team_and_one_of_a_service_account_has_no_memory():
    application, ada, robot = application_of(), add_user(), add_user()
    team = add_team(ada)
    ServiceAccount.objects.create(user=robot)
    add_schedule(application, ada, team)
    add_schedule(application, robot)

    fired(NOON, application)

    found = Conversation.objects.order_by("owner").values_list("owner", "team", "has_memory")
    expected = [(f"user-{ada.pk}-team-{team.pk}", team.pk, True), (f"user-{robot.pk}", None, False)]
    assert list(found) == sorted(expected)


def test_many_schedules_of_one_person_stand_queued_behind_each_other():
    application, ada = application_of(), add_user()
    for _ in range(120):  # more than a user may have waiting
        add_schedule(application, ada)

    woken = fired(NOON, application).woken

    turns = Run.objects.order_by("turn_at").values_list("turn_at", flat=True)
    assert (len(woken), len(set(turns))) == (120, 120)
    assert turns[1] - turns[0] == HOUR


def test_a_schedule_asks_its_version_and_its_conversation_stays_with_that():
    application, ada = application_of(), add_user()
    publish_again(application)
    row = add_schedule(application, ada, **HOURLY, is_same_conversation=True, pinned_version=1)

    fire_named(NOON)
    Run.objects.update(status="done")
    row.refresh_from_db()
    row.pinned_version = 2
    row.save()
    fire_named(NOON + HOUR)

    numbers = Run.objects.order_by("turn_at").values_list("application_number", flat=True)
    assert list(numbers) == [1, 2]
    assert list(Conversation.objects.values_list("pinned_version", flat=True)) == [2]
    assert set(Run.objects.values_list("door", flat=True)) == {"schedule"}


def test_a_withdrawn_version_pauses_its_schedule_with_the_reason_and_calls_its_owner():
    application, ada = application_of(), add_user()
    publish_again(application)
    row = add_schedule(application, ada, **HOURLY, pinned_version=1)
    other = add_schedule(application, ada, **HOURLY)
    withdraw.execute(application.versions.get(number=1))
    forget_applications()

    found = fire_named(NOON)

    row.refresh_from_db()
    other.refresh_from_db()
    assert (len(found.woken), found.stopped) == (1, frozenset({f"user-{ada.pk}"}))
    assert (row.is_paused, row.pause_reason) == (True, WITHDRAWN.format(number=1))
    assert [one.result for one in list_schedules([row], f"user-{ada.pk}")] == ["Not sent"]
    assert not other.is_paused
    assert attention(caller_in(ada.pk))["conversations"] == [
        {
            "id": str(row.pk),
            "application": "Second",
            "address": f"/scheduled/#schedule-{row.pk}",
            "state": "stopped",
        }
    ]
    pause(row, "You paused this schedule.")
    assert attention(caller_in(ada.pk))["conversations"] == []


@pytest.mark.parametrize("number", [1, 7])
def test_a_version_that_is_withdrawn_or_unknown_is_refused_at_its_field(number: int):
    application = application_of()
    publish_again(application)
    withdraw.execute(application.versions.get(number=1))

    with pytest.raises(ValidationError) as refused:
        add_schedule(application, add_user(), **HOURLY, pinned_version=number)

    assert list(refused.value.message_dict) == ["pinned_version"]


def publish_again(application: Application) -> None:
    """Publish a second version."""
    save_draft.execute(application, {"title": "Second"}, 0, None)
    publish.execute(application, "Second")


def fire_named(now: datetime) -> FiringReport:
    """Send what is due as the clock does, with applications by their names."""
    return fire(async_to_sync(resolve_applications)(due_names(now)), now, Callers())
