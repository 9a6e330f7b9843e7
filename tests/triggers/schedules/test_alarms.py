"""Alarms in conversations, and runs that no user started: their rights, budget and timeouts."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from channels.db import database_sync_to_async
from django.contrib.auth.models import User
from django.utils import timezone

from apps.accounts.caller import Caller
from apps.accounts.models import ServiceAccount
from apps.catalog.acting_accounts import NOT_MANAGED
from apps.catalog.models import Grant, Role
from apps.conversations.answering.continuation import sweeper
from apps.conversations.answering.requests import schedules_for
from apps.conversations.asking.questions import StartedAnswer
from apps.conversations.models import Conversation, Message
from apps.insights.prices import PRICES
from apps.live.hub import Hub
from apps.live.interactions import answer_due
from apps.live.models import Interaction, Run
from apps.schedules.models import Schedule
from apps.triggers.schedules.clock import fire_due
from apps.triggers.schedules.due import due
from apps.workspace.local import read_only
from tests.chat.scripts import (
    MANIFEST,
    Scene,
    Visitor,
    add_application,
    counts,
    scene,
    settled,
)
from tests.contract import proves
from tests.conversations.outcome.test_figures import price
from tests.fakes import calling, saying
from tests.triggers.rows import add_schedule

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("nothing_predefined"),
    pytest.mark.postgres,
]
FEATURES: dict[str, Any] = {"timestamp": None, "schedules": {"enabled": True}}
SCHEDULING = {**MANIFEST, "features": FEATURES}
LATER = "2030-01-01T09:00:00+00:00"
ALARM = calling(("c1", "alarm-clock", {"wakeAtISO": LATER, "reminderMessage": "Tea"}))
HOURLY = {"wakeAtISO": LATER, "reminderMessage": "Tea", "repeatIntervalMinutes": 60}
TASK = calling(
    ("c1", "schedule-task", {"kind": "cron", "cronExpression": "@daily", "message": "x"})
)


async def person(on: Scene, name: str = "grace") -> Visitor:
    user = await database_sync_to_async(User.objects.create)(username=name)
    return Visitor(on.application, on.model, user=user)


async def fire(on: Scene) -> int:
    """Let all schedules become due, and wait for their answers."""
    await Schedule.objects.aupdate(start_at=timezone.now(), next_at=timezone.now())
    asked = await fire_due(on.hub)
    await sweeper(on.hub, on.visitor.open_workspace).sweep()
    await settled(on.hub)
    return asked


async def set_alarm(on: Scene, visitor: Visitor) -> str:
    on.model.put(*ALARM, None)
    tab = await visitor.tab(on.hub)
    conversation = await tab.ask("Tea at nine.")
    frames = await tab.until_over()
    assert frames[-1]["status"] == "done"
    return conversation


async def test_schedules_wait_while_the_site_is_read_only():
    async with scene(manifest=SCHEDULING) as on:
        visitor = await person(on)
        await set_alarm(on, visitor)
        on.model.put(*saying("Time for tea."), None)

        await database_sync_to_async(read_only.switch)(on=True)
        early = await fire(on)
        await database_sync_to_async(read_only.switch)(on=False)
        late = await fire(on)
        await visitor.leave()

    assert (early, late) == (0, 1)


@proves("D-41")
async def test_an_alarm_wakes_its_conversation_once_with_a_marked_message():
    async with scene(manifest=SCHEDULING) as on:
        visitor = await person(on)
        conversation = await set_alarm(on, visitor)
        waiting = await database_sync_to_async(list)(due(datetime.fromisoformat(LATER)))
        on.model.put(*saying("Time for tea."), None)

        asked = [await fire(on), await fire(on)]

        await visitor.leave()
    messages = [one async for one in Message.objects.filter(conversation=UUID(conversation))]
    assert [str(one.conversation) for one in waiting] == [conversation]
    assert asked == [1, 0]
    assert [(one.role, one.text) for one in messages] == [
        ("user", "Tea at nine."),
        (
            "assistant",
            "\n\nThe alarm is set: On Tuesday, 1 Jan 2030 at 09:00 (UTC). The conversation "
            "continues then.",
        ),
        ("user", "Tea"),
        ("assistant", "Time for tea."),
    ]
    assert len(on.model.asked) == 2  # the alarm ended the first turn
    told = on.model.asked[1].messages[-1].text
    assert told.startswith("[The alarm that you set rings at its time, ")
    assert told.endswith("]\n\nTea")
    assert not await Schedule.objects.aexists()


@proves("D-41")
async def test_an_alarm_goes_with_its_conversation():
    async with scene(manifest=SCHEDULING) as on:
        visitor = await person(on)
        await set_alarm(on, visitor)
        await visitor.leave()

        await database_sync_to_async(lambda: Conversation.objects.get().delete())()

    assert not await Schedule.objects.aexists()


async def test_a_run_without_a_person_waits_for_the_approval_as_long_as_the_schedule_says():
    async with scene(manifest=SCHEDULING) as on:
        visitor = await person(on)
        await set_alarm(on, visitor)
        dues = []
        for unanswered in ("wait", "deny"):
            on.model.put(*TASK, None)
            fields = {"unanswered": unanswered, "unanswered_minutes": 5, "interval_seconds": 60}
            await Schedule.objects.aupdate(**fields)
            await fire(on)
            asked = await Interaction.objects.select_related("run").alatest("pk")
            dues.append(asked.due_at)
            assert (asked.kind, asked.run.status) == ("approval", "waiting")
            await Run.objects.filter(pk=asked.run_id).aupdate(status="done")

        await visitor.leave()
    forever, minutes = dues
    assert minutes is not None
    assert forever is None
    assert timedelta(minutes=4) < minutes - timezone.now() <= timedelta(minutes=5)
    assert await Schedule.objects.acount() == 1  # nothing was scheduled without its user


async def test_a_run_ends_when_its_own_budget_is_used():
    async with scene(manifest=SCHEDULING) as on:
        visitor = await person(on)
        await set_alarm(on, visitor)
        await Schedule.objects.aupdate(budget_tokens=100)
        on.model.put(*calling(("c2", "list-schedules", {})), counts(90, 20), None)

        await fire(on)

        await visitor.leave()
    answer = await Message.objects.filter(role="assistant").alatest("pk")
    assert answer.finish_reason == "error"
    assert len(on.model.asked) == 2  # and not for what follows the call
    assert answer.run_id is not None
    run = await Run.objects.aget(pk=answer.run_id)
    assert run.status == "failed"


async def test_a_run_ends_when_its_own_money_is_used(monkeypatch):
    monkeypatch.setattr(PRICES, "read_at", None)
    async with scene(manifest=SCHEDULING) as on:
        await database_sync_to_async(price)("paced", per_call=Decimal("0.01"))
        visitor = await person(on)
        await set_alarm(on, visitor)
        await Schedule.objects.aupdate(budget_tokens=None, budget_money=Decimal("0.015"))
        for number in range(2):
            on.model.put(*calling((f"c{number}", "list-schedules", {})), counts(9, 2), None)

        await fire(on)

        await visitor.leave()
    answer = await Message.objects.filter(role="assistant").alatest("pk")
    assert (answer.finish_reason, answer.usage["costs"]) == ("error", {"USD": "0.02"})
    assert len(on.model.asked) == 3  # the alarm, and the call that exceeded it


async def test_another_process_that_goes_on_with_a_run_knows_what_it_has_used():
    async with scene(manifest=SCHEDULING) as on:
        visitor = await person(on)
        await set_alarm(on, visitor)
        minutes = {"unanswered": "deny", "unanswered_minutes": 5}
        await Schedule.objects.aupdate(budget_tokens=100, **minutes)
        on.model.put(*TASK, counts(90, 20), None)
        await fire(on)
        waiting = (await Interaction.objects.select_related("run").aget()).run
        await Interaction.objects.aupdate(due_at=timezone.now())
        await database_sync_to_async(answer_due)()

        other = Hub()
        await sweeper(other, on.visitor.open_workspace).sweep()
        await settled(other)

        await visitor.leave()
    run = await Run.objects.aget(pk=waiting.pk)
    answer = await Message.objects.filter(role="assistant").alatest("pk")
    assert (waiting.status, run.status) == ("waiting", "failed")
    assert (answer.run_id, answer.finish_reason) == (run.pk, "error")
    assert len(on.model.asked) == 2  # neither process called the model after the call


def desk(caller: Caller) -> Any:
    begun = StartedAnswer(Conversation(id=uuid4()), Run())
    return schedules_for(begun, type("Application", (), {"id": 1, "number": 1})(), caller)


@proves("R-20")
def test_visitors_and_keys_that_others_made_have_no_schedules():
    assert desk(Caller("session-1")) is None
    assert desk(Caller("key-ab12cd34", "key")) is None
    assert desk(Caller("x", "dial")) is None
    assert desk(Caller("key-ab12cd34", "key", key_user_id=3)) is None  # created by another user
    own_key = Caller("key-ab12cd34", "key", key_user_id=3, is_own_key=True)
    assert desk(own_key).owner.user == 3
    assert desk(Caller("user-3", "user", user_id=3)).owner.bucket == "user-3"


@proves("R-20")
async def test_visitors_are_offered_no_schedules():
    async with scene(manifest=SCHEDULING) as on:
        on.model.put(*saying("Hello."), None)
        tab = await on.visitor.tab(on.hub)
        await tab.ask("Remind me.")
        await tab.until_over()

    assert on.model.asked[0].tools == []


async def test_a_schedule_that_the_model_of_a_service_account_makes_has_the_saver_of_its_trigger():
    async with scene(manifest=SCHEDULING) as on:
        robot = await person(on, "robot")
        account = await User.objects.aget(username="robot")
        await ServiceAccount.objects.acreate(user=account)
        olga = await User.objects.acreate(username="olga")
        trigger = await database_sync_to_async(add_schedule)(on.application, account, saved_by=olga)
        on.model.put(*calling(("c1", "alarm-clock", HOURLY)), None)
        await fire(on)
        made = await Schedule.objects.aget(is_alarm=True)

        await Schedule.objects.filter(pk=trigger.pk).adelete()
        application = await add_application(is_shared=False)
        await Grant.objects.acreate(application=application, user=account, role=Role.USER)
        await fire(on)
        await robot.leave()

    stopped = await Schedule.objects.aget(pk=made.pk)
    assert (made.saved_by_id, made.made_by, made.is_paused) == (olga.pk, "model", False)
    assert (stopped.is_paused, stopped.last_problem) == (True, NOT_MANAGED.format(user="olga"))
