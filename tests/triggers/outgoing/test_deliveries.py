"""Events for subscribers are stored when a run ends, signed, retried, and given up after the last
attempt."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from channels.db import database_sync_to_async
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django.fixtures import Settings

from apps import process_state
from apps.agent.progress import Progress
from apps.catalog.models import Application, Grant, Role
from apps.conversations.models import Conversation
from apps.live.history import run_rows
from apps.live.history.run_rows import RunFigures
from apps.live.listeners import RunNews, run_listeners
from apps.live.models import Run, RunSummary
from apps.triggers.models import Delivery, RunEvent, Subscription
from apps.triggers.old_deliveries import delete_old
from apps.triggers.outgoing import attempts as delivery_attempts
from apps.triggers.outgoing import deliveries
from apps.triggers.webhook_secrets import new_secret, renew_signing, signing_secrets
from apps.workspace.local import read_only
from tests.catalog.rows import make_application
from tests.chat.scripts import MANIFEST, Scene, scene, settled
from tests.contract import proves
from tests.fakes import calling, saying
from tests.task_api.test_tasks import Program as Asker
from tests.tasks.jobs import run_waiting_jobs
from tests.triggers.receivers import Receiver, receiver

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("nothing_predefined"),
    pytest.mark.postgres,
]


@pytest.fixture(autouse=True)
def _loopback_is_allowed(settings: Settings) -> None:
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]


def make_subscription(url: str, **fields: Any) -> Subscription:
    owner = fields.pop("owner", None) or User.objects.create_superuser(f"boss-{url[-12:]}")
    given = {"events": [str(event) for event in RunEvent], "secret": new_secret(), **fields}
    row: Subscription = Subscription.objects.create(name="Orders", url=url, owner=owner, **given)
    deliveries._filters.clear()
    return row


amake_subscription = database_sync_to_async(make_subscription)


async def answered(on: Scene, *script: Any) -> Run:
    on.model.put(*script)
    _, told = await Asker(on).submit()
    await settled(on.hub)
    return await Run.objects.aget(pk=told["task_id"])


@asynccontextmanager
async def ended(
    *statuses: int, script: Sequence[Any] = (*saying("Done."), None), **fields: Any
) -> AsyncIterator[tuple[Receiver, Subscription]]:
    """Return a subscription to all events, and a run that has ended. `statuses` are the receiver's
    responses."""
    with receiver(*statuses) as there:
        async with scene() as on:
            subscription = await amake_subscription(there.url, **fields)
            await answered(on, *script)
            yield there, subscription


async def sent_once() -> None:
    await run_waiting_jobs()
    await process_state.close_loop_objects()


async def only() -> Delivery:
    return await Delivery.objects.aget()


async def attempts(most: int) -> list[Delivery]:
    """Return the delivery after each attempt."""
    seen = []
    for _ in range(most):
        await Delivery.objects.filter(status="due").aupdate(due_at=timezone.now())
        await sent_once()
        seen.append(await only())
    return seen


@proves("subscriptions")
async def test_an_answer_is_told_with_ids_and_states_alone_and_signed():
    with receiver() as there:
        async with scene() as on:
            subscription = await amake_subscription(there.url)
            run = await answered(on, *saying("A secret."), None)
            await sent_once()

    [told] = there.bodies(subscription.secret)
    row = await Delivery.objects.aget()
    assert told == {
        "type": "run.done",
        "timestamp": row.created_at.isoformat(),
        "data": {
            "run": str(run.pk),
            "application": on.application.slug,
            "door": "page",
            "status": "done",
            "conversation": str(run.stream),
        },
    }
    assert there.ids == [str(row.uuid)]
    assert (row.status, row.attempts, row.response_status, row.error) == ("sent", 1, 204, "")


async def test_a_delivery_waits_while_the_site_is_read_only():
    async with ended() as (there, subscription):
        await database_sync_to_async(read_only.switch)(on=True)
        await sent_once()
        early = there.bodies(subscription.secret)
        await database_sync_to_async(read_only.switch)(on=False)
        await sent_once()

    assert (early, len(there.ids)) == ([], 1)


async def test_a_renewed_secret_signs_beside_the_former_one_for_a_day_and_then_alone():
    async with ended() as (there, subscription):
        former = subscription.secret
        renewed = renew_signing(subscription)
        await subscription.asave()
        await sent_once()
        both = there.requests[0][0]["webhook-signature"].split()
        assert there.bodies(former) == there.bodies(renewed)
        over = timezone.now() + timedelta(hours=24)

    assert (len(both), former != renewed) == (2, True)
    assert signing_secrets(subscription, over) == [renewed]
    subscription.former_secret_until = timezone.now()
    await subscription.asave()
    await database_sync_to_async(delete_old)()
    left = await Subscription.objects.aget()
    assert (left.former_secret, left.former_secret_until) == ("", None)


@proves("subscriptions")
async def test_the_text_is_told_where_the_subscription_says_so():
    async with ended(script=(*saying("Booked."), None), has_text=True) as (there, subscription):
        await sent_once()

    assert there.bodies(subscription.secret)[0]["data"]["text"] == "Booked."


async def test_an_owner_who_may_no_longer_read_answers_gets_none():
    async with ended(script=(*saying("Booked."), None), has_text=True) as (there, subscription):
        await User.objects.aupdate(is_superuser=False)
        await sent_once()

    assert "text" not in there.bodies(subscription.secret)[0]["data"]


async def test_what_a_temporary_conversation_says_is_not_told():
    async with ended(has_text=True) as (there, subscription):
        await Conversation.objects.aupdate(temporary_until=timezone.now())
        await sent_once()

    assert there.bodies(subscription.secret)[0]["data"]["text"] is None


async def test_failures_and_waiting_are_told_to_who_wants_that():
    asks = {**MANIFEST, "features": {"questions": {"enabled": True}}}
    with receiver() as there, receiver() as other:
        async with scene(manifest=asks) as on:
            wide = await amake_subscription(there.url)
            narrow = await amake_subscription(other.url, events=["run.failed"])
            await answered(on, RuntimeError("no luck"))
            wanted = {"question": "Where?", "input_type": "text"}
            waiting = await answered(on, *calling(("q", "internal_ask_question", wanted)), None)
            await sent_once()

    assert waiting.status == "waiting"
    # They are sent at the same time.
    assert {one["type"] for one in there.bodies(wide.secret)} == {"run.failed", "run.waiting"}
    assert len(there.ids) == 2
    assert [one["type"] for one in other.bodies(narrow.secret)] == ["run.failed"]


@proves("subscriptions")
async def test_a_receiver_that_is_away_is_asked_again_with_the_same_id_until_it_answers():
    async with ended(500, 503) as (there, _):
        seen = await attempts(3)
        await sent_once()  # nothing is left to be sent

    states = [(row.status, row.attempts, row.response_status) for row in seen]
    assert states == [("due", 1, 500), ("due", 2, 503), ("sent", 3, 204)]
    assert seen[0].error == "The receiver returned status 500."
    assert len(set(there.ids)) == 1
    assert len(there.ids) == 3


@proves("subscriptions")
async def test_after_the_last_attempt_it_is_given_up_and_sent_again_by_hand():
    async with ended(*[500] * 5) as (there, _):
        begun = timezone.now()
        seen = await attempts(6)
        count = await database_sync_to_async(delivery_attempts.retry)([await only()])
        await sent_once()

    due = [("due", number) for number in (1, 2, 3, 4)]
    assert [(row.status, row.attempts) for row in seen] == [*due, ("dead", 5), ("dead", 5)]
    assert (count, (await only()).status, len(there.requests)) == (1, "sent", 6)
    pauses = [(row.due_at - begun).total_seconds() for row in seen[:4]]
    assert pauses == sorted(pauses)
    assert 40 * 60 < sum(pauses) < 75 * 60  # all attempts are over in about an hour


@proves("subscriptions")
async def test_a_receiver_that_is_gone_for_good_disables_its_subscription():
    async with ended(410):
        await sent_once()

    row, subscription = await only(), await Subscription.objects.aget()
    assert (row.status, row.response_status) == ("dead", 410)
    assert (subscription.is_enabled, subscription.problem) == (
        False,
        "The receiver returned status 410: it no longer wants events.",
    )


@proves("subscriptions")
async def test_a_private_address_is_refused_and_the_operator_reads_why(settings: Settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = []
    async with ended() as (there, _):
        await sent_once()

    row = await only()
    assert there.requests == []
    assert (row.status, row.response_status) == ("due", None)
    assert "is on a private network" in row.error


@proves("subscriptions")
async def test_an_attempt_whose_process_is_killed_is_made_by_another_with_the_same_id():
    async with ended() as (there, _):
        delivery = await only()
        claimed = await database_sync_to_async(delivery_attempts.reserve)(str(delivery.uuid))
        # The first process died; others leave its claim alone until it expires.
        await sent_once()
        during = len(there.requests)
        await Delivery.objects.all().aupdate(due_at=timezone.now() - timedelta(milliseconds=1))
        await sent_once()

    assert claimed is not None
    assert (during, there.ids) == (0, [str(delivery.uuid)])
    assert ((await only()).status, (await only()).attempts) == ("sent", 2)


async def test_what_was_due_while_a_subscription_was_disabled_is_sent_after_it_is_enabled():
    async with ended() as (there, _):
        await Subscription.objects.aupdate(is_enabled=False)
        await sent_once()
        await Delivery.objects.aupdate(due_at=timezone.now() - timedelta(minutes=11))
        ignored = await database_sync_to_async(delivery_attempts.enqueue_overdue)()
        await Subscription.objects.aupdate(is_enabled=True)
        found = await database_sync_to_async(delivery_attempts.enqueue_overdue)()
        await sent_once()

    assert (ignored, found, len(there.ids)) == (0, 1, 1)


def test_of_two_looks_at_the_same_row_one_holds_it():
    row = stored_delivery()
    same = Delivery.objects.get()

    assert [delivery_attempts.claim(one, timezone.now()) for one in (row, same)] == [True, False]


def stored_delivery() -> Delivery:
    subscription = make_subscription("http://127.0.0.1:1/x")
    return Delivery.objects.create(
        subscription=subscription,
        event=RunEvent.DONE,
        run="00000000-0000-0000-0000-000000000001",
        door="page",
        application="travel",
    )


def news(slug: str, status: str = "done") -> RunNews:
    return RunNews(uuid4(), "gateway", slug, "key-1", status)


@proves("subscriptions")
def test_only_runs_of_applications_that_the_owner_edits_are_told():
    owner = User.objects.create_user("owner")
    mine = make_application("mine", owner=owner)
    others = make_application("others")
    all_of_mine = make_subscription("http://127.0.0.1:1/a", owner=owner)
    one = make_subscription("http://127.0.0.1:1/b", owner=owner, application=others)
    boss = make_subscription("http://127.0.0.1:1/c")

    deliveries.note_runs([news(mine.slug), news(others.slug), news("applications/x/core")])

    told = Delivery.objects.values_list("subscription", "application")
    assert sorted(told) == sorted(
        [
            (all_of_mine.pk, "mine"),
            *((boss.pk, name) for name in ("mine", "others", "applications/x/core")),
        ]
    )
    assert one.pk not in {row for row, _ in told}


def test_only_runs_of_applications_that_the_last_saver_edits_too_are_told():
    owner, editor, former = (User.objects.create_user(name) for name in ("o", "e", "f"))
    mine = make_application("mine", owner=owner)
    Grant.objects.create(application=mine, user=editor, role=Role.EDITOR)
    root = User.objects.create_superuser("root")
    made = [
        make_subscription("http://127.0.0.1:1/a", owner=owner, application=mine, saved_by=user)
        for user in (owner, editor, root, former)
    ]

    deliveries.note_runs([news("mine")])

    told = Delivery.objects.values_list("subscription", flat=True)
    assert sorted(told) == [row.pk for row in made[:3]]


def test_a_subscription_whose_owner_is_gone_is_told_nothing():
    owner = User.objects.create_user("owner")
    application = make_application("mine", owner=owner)
    make_subscription("http://127.0.0.1:1/a", owner=owner, application=application)
    User.objects.filter(pk=owner.pk).update(is_active=False)
    deliveries._filters.clear()

    deliveries.note_runs([news("mine")])

    assert not Delivery.objects.exists()


def test_an_ending_is_told_once_and_each_waiting_by_itself():
    make_subscription("http://127.0.0.1:1/a")
    ended, waits = news("mine"), news("mine", "waiting")

    for _ in range(2):
        deliveries.note_runs([ended, waits])

    assert sorted(Delivery.objects.values_list("event", flat=True)) == [
        "run.done",
        "run.waiting",
        "run.waiting",
    ]


@proves("subscriptions")
def test_without_subscriptions_an_ending_asks_the_database_nothing_more(monkeypatch):
    monkeypatch.setattr(deliveries, "CACHE_SECONDS", 600.0)
    deliveries.note_runs([news("mine")])

    with CaptureQueriesContext(connection) as asked:
        deliveries.note_runs([news("mine")])

    assert len(asked) == 0
    assert not Application.objects.exists()


def test_runs_of_the_gateway_are_told_when_they_are_over_and_once():
    subscription = make_subscription("http://127.0.0.1:1/a")
    done, going, stopped = (RunFigures("gateway", "mine", "key-1") for _ in range(3))
    done.end("done", Progress())
    stopped.end("stopped", Progress())

    for _ in range(2):
        run_rows.write([done, going, stopped])

    [row] = Delivery.objects.all()
    assert (row.subscription, row.run, row.event, row.door) == (
        subscription,
        done.id,
        "run.done",
        "gateway",
    )


def test_a_listener_that_fails_does_not_undo_the_ending(monkeypatch: pytest.MonkeyPatch):
    listeners = {"broken": broken, **run_listeners.connected}
    monkeypatch.setattr(run_listeners, "connected", listeners)
    make_subscription("http://127.0.0.1:1/a")
    done = RunFigures("gateway", "mine", "key-1")
    done.end("done", Progress())

    run_rows.write([done])

    assert RunSummary.objects.filter(pk=done.id).exists()
    assert Delivery.objects.count() == 1


def broken(news: Sequence[RunNews]) -> None:
    raise LookupError(f"{len(news)}")
