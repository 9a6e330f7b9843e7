"""The model sets an alarm and schedules tasks."""

import json
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone
from msgspec import structs

from apps.agent.tools import Invocation, PendingResult, Tool, ToolResult
from apps.capabilities.chat_context import ChatContext
from apps.capabilities.registry import NOTHING, Contribution
from apps.capabilities.schedules.capability import schedules
from apps.errors import InvalidParameter, ToolError
from apps.schedules import user_schedules
from apps.schedules.models import Schedule
from apps.schedules.user_schedules import Owner, UserSchedules, forget_conversation
from tests.capabilities.manifests import manifest, opening_for
from tests.contract import proves
from tests.fakes import MemoryLedger
from tests.tables import each_row
from tests.triggers.rows import add_team, add_user, application_of

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]
ON = {"schedules": {"enabled": True}}
UNASKED = {"schedules": {"enabled": True, "approval": {"mode": "auto"}}}
AT_NINE = {"kind": "cron", "cronExpression": "0 9 * * MON-FRI", "message": "What is new?"}


def schedules_for(user: Any = None, application: Any = None, team: Any = None) -> UserSchedules:
    user, application = user or add_user(), application or application_of()
    number = None if team is None else team.pk
    owner = Owner(f"user-{user.pk}", user.pk, number, {"kind": "user", "user_id": user.pk})
    return UserSchedules(owner, application.pk, uuid4(), lambda: user.pk, "Europe/Berlin")


def tools_of(desk: UserSchedules | None, features: Any = UNASKED) -> dict[str, Tool]:
    opener = schedules.prepare(manifest(features=features))
    if opener is None:
        return {}
    manager = opener(structs.replace(opening_for(), chat=ChatContext(schedules=desk)))
    assert isinstance(manager, nullcontext)
    contribution: Contribution = manager.enter_result
    return {tool.spec.name: tool for tool in contribution.tools}


def call(desk: UserSchedules, name: str, /, **arguments: Any) -> ToolResult:
    return made(tools_of(desk)[name], Invocation("1", arguments))


def made(tool: Tool, invocation: Invocation) -> ToolResult:
    result: ToolResult = async_to_sync(tool.call)(invocation)
    return result


@proves("R-20")
def test_tools_are_offered_only_where_somebody_can_schedule():
    tasks = ["schedule-task", "list-schedules", "update-schedule"]
    names = ["alarm-clock", *tasks, "edit-heartbeat", "remove-schedule"]

    assert list(tools_of(schedules_for())) == names
    assert tools_of(None) == {}
    nothing: tuple[Any, ...] = (None, {}, {"schedules": {}})
    assert [tools_of(schedules_for(), off) for off in nothing] == [{}, {}, {}]
    assert NOTHING.tools == ()


@proves("D-41")
def test_an_alarm_ends_the_turn_and_takes_the_place_of_an_earlier_one():
    desk = schedules_for()

    first = call(desk, "alarm-clock", wakeAtISO="2027-01-01T09:00", reminderMessage="Tea")
    call(desk, "alarm-clock", wakeAtISO="2027-01-01T10:00+01:00", repeatIntervalMinutes=1)

    row = Schedule.objects.get()
    assert first.ends_turn
    assert first.content == (
        "The alarm is set: On Friday, 1 Jan 2027 at 09:00 (Europe/Berlin). The conversation "
        "continues then."
    )
    assert (row.is_alarm, row.conversation, row.message) == (
        True,
        desk.conversation,
        "The alarm rings.",
    )
    assert row.next_at == datetime(2027, 1, 1, 9, tzinfo=UTC)
    assert (row.interval_seconds, row.budget_tokens, row.made_by) == (60, 100_000, "model")


@proves("D-41")
def test_an_alarm_for_a_time_that_has_passed_is_due_at_once():
    call(schedules_for(), "alarm-clock", wakeAtISO="2020-01-01T09:00:00Z")

    assert Schedule.objects.filter(next_at__lte=timezone.now()).exists()


@proves("D-42")
def test_a_heartbeat_wakes_the_conversation_in_intervals_until_it_is_switched_off():
    desk, now = schedules_for(), timezone.now()
    other = replace(desk, conversation=uuid4())

    begun = call(desk, "edit-heartbeat", message="News?", whatever=1)
    call(other, "edit-heartbeat")
    first = Schedule.objects.get(conversation=desk.conversation)
    call(
        desk, "edit-heartbeat", intervalSeconds=60, activeHoursStart="22:00", activeHoursEnd="06:00"
    )
    changed = Schedule.objects.get(conversation=desk.conversation)
    call(desk, "edit-heartbeat", enabled=False)

    assert begun.content.startswith("The heartbeat is set: Every hour (Europe/Berlin).")
    assert first.next_at is not None
    assert timedelta(minutes=59) < first.next_at - now <= timedelta(hours=1, seconds=30)
    assert (first.is_same_conversation, first.made_by, first.budget_tokens) == (
        True,
        "model",
        100_000,
    )
    assert (changed.pk, changed.message) == (first.pk, "News?")
    assert changed.words == "Every minute between 22:00 and 06:00 (Europe/Berlin)"
    assert Schedule.objects.get().conversation == other.conversation
    forget_conversation(other.conversation)
    assert not Schedule.objects.exists()
    with pytest.raises(InvalidParameter, match="60"):
        call(desk, "edit-heartbeat", intervalSeconds=59)


@proves("D-41")
def test_an_alarm_is_not_repeated_more_often_than_each_minute():
    with pytest.raises(InvalidParameter, match="must be between 1 minute and a year"):
        call(
            schedules_for(), "alarm-clock", wakeAtISO="2027-01-01T09:00", repeatIntervalMinutes=0.5
        )


@proves("D-42")
def test_a_task_is_scheduled_listed_changed_and_removed():
    desk = schedules_for()

    added = call(
        desk,
        "schedule-task",
        **AT_NINE,
        name="News",
        activeHoursStart="08:00",
        activeHoursEnd="18:00",
        budgetTokens=5_000,
        whatever=1,
    )
    pk = Schedule.objects.get().pk
    [entry] = json.loads((call(desk, "list-schedules")).content)
    changed = call(
        desk,
        "update-schedule",
        taskId=str(pk),
        cronExpression="@daily",
        activeHoursStart="",
        activeHoursEnd="",
    )
    removed = call(desk, "remove-schedule", taskId=str(pk))
    left = call(desk, "list-schedules")

    assert added.content.startswith(
        "Scheduled: Every day from Monday to Friday at 09:00 between 08:00 and 18:00 (Europe/Berlin)."
    )
    assert entry | {"nextRun": ""} == {
        "taskId": str(pk),
        "name": "News",
        "isAlarm": False,
        "message": "What is new?",
        "version": "live",
        "runs": "Every day from Monday to Friday at 09:00 between 08:00 and 18:00 (Europe/Berlin)",
        "nextRun": "",
        "lastRun": None,
        "runCount": 0,
        "maxRuns": None,
        "deleteAfterRun": False,
        "createdBy": "model",
        "paused": False,
        "problem": "",
        "budgetTokens": 5000,
    }
    assert changed.content.startswith("Changed: Every day at 00:00 (Europe/Berlin).")
    assert (removed.content, left.content) == ("Removed.", "There are no schedules.")


@proves("D-42")
@each_row(
    ("arguments", "path"),
    [
        ({"kind": "interval", "intervalSeconds": 59}, "intervalSeconds"),
        ({"kind": "interval"}, "intervalSeconds"),
        ({"kind": "at"}, "wakeAtISO"),
        ({"kind": "at", "wakeAtISO": "soon"}, "wakeAtISO"),
        ({"kind": "cron"}, "cronExpression"),
        ({"kind": "cron", "cronExpression": "0 0 9 * * *"}, "cronExpression"),
        ({"kind": "cron", "cronExpression": "@daily", "timezone": "Mars"}, "timezone"),
        ({"kind": "cron", "cronExpression": "@daily", "activeHoursStart": "09"}, "activeHoursEnd"),
        ({"kind": "cron", "cronExpression": "@daily", "activeHoursStart": "x"}, "activeHoursStart"),
        ({"kind": "cron", "cronExpression": "@daily", "budgetTokens": 0}, "budgetTokens"),
        ({"kind": "rrule"}, "kind"),
    ],
)
def test_what_cannot_be_scheduled_is_refused_by_the_name_of_the_argument(arguments, path):
    with pytest.raises(InvalidParameter) as refused:
        call(schedules_for(), "schedule-task", message="x", **arguments)

    assert refused.value.parameter == path
    assert not Schedule.objects.exists()


def test_scheduling_and_changing_wait_for_the_person_unless_the_application_says_otherwise():
    desk = schedules_for()
    tools = tools_of(desk, ON)
    asking: dict[str, Any] = {"ledger": MemoryLedger(), "key": "t:1:0:1"}

    added = made(tools["schedule-task"], Invocation("1", AT_NINE, **asking))
    changed = made(tools["update-schedule"], Invocation("1", {"taskId": "x"}, **asking))

    assert isinstance(added, PendingResult)
    assert isinstance(changed, PendingResult)
    assert added.interactions[0].kind == "approval"
    assert not Schedule.objects.exists()


def test_nobody_has_more_schedules_than_the_installation_keeps(monkeypatch):
    monkeypatch.setattr(user_schedules, "MOST_SCHEDULES", 1)
    desk = schedules_for()
    call(desk, "schedule-task", **AT_NINE)

    refused = call(desk, "schedule-task", **AT_NINE)
    alarm = call(desk, "alarm-clock", wakeAtISO="2027-01-01T09:00")

    assert isinstance(refused.failure, ToolError)
    assert (
        "You already have the maximum number of schedules (1). Remove one first." in refused.content
    )
    assert alarm.ends_turn


def test_a_schedule_of_another_person_team_or_application_is_not_there():
    ada, application = add_user(), application_of()
    mine = schedules_for(ada, application)
    call(mine, "schedule-task", **AT_NINE)
    pk = str(Schedule.objects.get().pk)
    others = (
        schedules_for(None, application),
        schedules_for(ada, application, add_team(ada)),
        schedules_for(ada),
    )

    for desk in others:
        assert (call(desk, "list-schedules")).content == "There are no schedules."
        for name in ("remove-schedule", "update-schedule"):
            with pytest.raises(InvalidParameter, match="no schedule with this taskId"):
                call(desk, name, taskId=pk, message="Mine now")

    assert Schedule.objects.get().message == "What is new?"


def test_an_interval_begins_with_the_first_one_over():
    before = timezone.now()

    call(schedules_for(), "schedule-task", kind="interval", intervalSeconds=90, message="x")

    found = Schedule.objects.get().next_at
    assert found is not None
    assert timedelta(seconds=89) < found - before < timedelta(seconds=100)
    assert isinstance(Schedule.objects.get().pk, UUID)


def test_a_task_keeps_the_version_of_its_conversation_until_another_one_is_named():
    desk = replace(schedules_for(), pinned_version=1)

    call(desk, "schedule-task", **AT_NINE)
    row = Schedule.objects.get()
    with pytest.raises(InvalidParameter, match="Version 7 of the app doesn’t exist"):
        call(desk, "update-schedule", taskId=str(row.pk), version=7)
    call(desk, "update-schedule", taskId=str(row.pk), version=0)

    assert row.pinned_version == 1
    assert Schedule.objects.get().pinned_version is None
