"""A waiting run consists only of rows, until an answer arrives at any process."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from channels.db import database_sync_to_async
from django.db import connection
from django.utils import timezone

from apps.agent.ledger import InteractionRequest as Asked
from apps.agent.ledger import Step
from apps.errors import Refused
from apps.live import leases
from apps.live.hub import Hub
from apps.live.interactions import answer_due, answer_interaction
from apps.live.journal import journal
from apps.live.limits.queue import ActiveRunCounts, count_active_runs
from apps.live.models import Interaction, Run
from apps.live.process.sweeper import Sweeper
from apps.live.step_ledger import read_interactions, read_steps
from tests.contract import proves
from tests.live.records import PATIENCE, held_run, new_run, settled, supervised, texts_of

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

KEY = "t:1:0:call-1"


async def parked(hub: Hub, seconds: float | None = None) -> Run:
    """Return a run that asked whether it may continue."""
    run = await held_run(hub)
    supervisor = supervised(hub, run)

    async def work() -> None:
        supervisor.ledger.record(Step("m:1", "model", "done", result={"text": "May I?"}))
        supervisor.ledger.ask(Asked(KEY, "approval", {"tool": "rm\0"}, seconds))

    supervisor.start(work())
    await settled(hub)
    return run


def rows() -> list[tuple[Any, ...]]:
    return list(Run.objects.values_list("status", "holder"))


@proves("D-09")
async def test_a_run_that_waits_is_rows_and_nothing_else(settings: Any):
    hub = Hub()

    run = await parked(hub)

    asked = await Interaction.objects.aget()
    assert await database_sync_to_async(rows)() == [("waiting", "")]
    assert (asked.key, asked.kind, asked.asked) == (KEY, "approval", {"tool": "rm\ufffd"})
    assert (asked.answer, asked.due_at) == (None, None)
    assert await database_sync_to_async(texts_of)(run.stream) == [(1, "waiting")]
    assert (hub.tasks, hub.supervisors, hub.streams.logs, hub.committer.records) == (
        set(),
        {},
        {},
        set(),
    )
    settings.RUN_LEASE_SECONDS = 0.001
    assert not await database_sync_to_async(leases.free().exists)()
    assert await database_sync_to_async(count_active_runs)() == ActiveRunCounts(
        Counter(), Counter()
    )


async def test_of_two_answers_at_once_one_counts():
    run = await parked(Hub())
    answer = database_sync_to_async(answer_interaction)

    given = await asyncio.gather(
        *(answer(run, KEY, "approval", {"outcome": word}, word) for word in ("yes", "no")),
        return_exceptions=True,
    )

    stored = await Interaction.objects.aget()
    refused = [one for one in given if isinstance(one, Refused)]
    assert ([one.code for one in refused], given.count(None)) == (["answered"], 1)
    assert stored.answer == {"outcome": stored.answered_by}
    assert await database_sync_to_async(rows)() == [("queued", "")]


@pytest.mark.parametrize("status", ["done", "failed", "stopped"])
async def test_an_answer_that_comes_too_late_is_refused(status: str):
    run = await parked(Hub())
    await Run.objects.aupdate(status=status)

    with pytest.raises(Refused) as refused:
        await database_sync_to_async(answer_interaction)(run, KEY, "approval", {"a": 1}, "user-1")

    assert refused.value.code == "answered"
    assert (await Interaction.objects.aget()).answer is None


async def test_a_run_that_parks_again_stays_open_for_what_is_not_answered():
    hub = Hub()
    run = await parked(hub)
    other = "t:1:1:call-2"
    await Interaction.objects.acreate(run=run, key=other, kind="approval", asked={})
    answer = database_sync_to_async(answer_interaction)

    await answer(run, KEY, "approval", {"outcome": "yes"}, "user-1")
    await park_again(hub, run, other)
    between = await database_sync_to_async(rows)()

    assert between == [("waiting", "")]
    assert await Interaction.objects.filter(answer__isnull=True).acount() == 1


async def test_an_answer_that_comes_while_another_one_is_acted_on_is_to_be_given_again():
    hub = Hub()
    run = await parked(hub)
    other = "t:1:1:call-2"
    await Interaction.objects.acreate(run=run, key=other, kind="approval", asked={})
    answer = database_sync_to_async(answer_interaction)

    async def answer_too_soon() -> None:
        with pytest.raises(Refused) as refused:
            await answer(run, other, "approval", {"a": 1}, "user-1")
        assert refused.value.code == "run_going"

    await answer(run, KEY, "approval", {"outcome": "yes"}, "user-1")
    await park_again(hub, run, other, answer_too_soon)
    await answer(run, other, "approval", {"a": 1}, "user-1")

    assert await database_sync_to_async(rows)() == [("queued", "")]


async def park_again(
    hub: Hub, run: Run, key: str, meanwhile: Callable[[], Awaitable[object]] | None = None
) -> None:
    """Continue a run that still waits for the interaction of that key."""
    assert await database_sync_to_async(leases.take_over)(run, hub.name)
    answers = await database_sync_to_async(read_interactions)(run)
    first = await database_sync_to_async(journal.last_number)(run.stream) + 1
    supervisor = supervised(hub, run, interactions=answers, first=first)

    async def work() -> None:
        if meanwhile is not None:
            await meanwhile()
        supervisor.ledger.ask(Asked(key, "approval", {}))

    supervisor.start(work())
    await settled(hub)


@proves("T-13", "D-09")
async def test_any_process_goes_on_when_the_answer_is_there():
    run = await parked(Hub())
    other = Hub()
    taken: list[tuple[Any, ...]] = []

    async def resume_run(hub: Hub, run: Run) -> None:
        steps = await database_sync_to_async(read_steps)(run)
        answers = await database_sync_to_async(read_interactions)(run)
        taken.append((run.status, run.holder, [step.key for step in steps], answers))

    sweeper = Sweeper(other, resume_run, lambda run: None)
    await sweeper.sweep()
    before = list(taken)
    await database_sync_to_async(answer_interaction)(
        run, KEY, "approval", {"outcome": "yes"}, "user-1"
    )
    await sweeper.sweep()
    await sweeper.sweep()

    answered = Asked(KEY, "approval", {"tool": "rm\ufffd"}, None, {"outcome": "yes"}, "user-1")
    assert (before, taken) == ([], [("running", other.name, ["m:1"], [answered])])


async def test_what_nobody_answers_in_time_is_answered_by_the_clock():
    run = await parked(Hub(), seconds=60)
    answer = database_sync_to_async(answer_due)

    early = await answer()
    await Interaction.objects.aupdate(due_at=timezone.now() - timedelta(seconds=1))
    due = await answer()
    again = await answer()

    assert (early, due, again) == ([], [run.stream], [])
    assert (await Interaction.objects.aget()).answer == {"outcome": "timeout"}
    assert await database_sync_to_async(rows)() == [("queued", "")]


async def test_an_answer_after_its_time_does_not_count():
    run = await parked(Hub(), seconds=60)
    await Interaction.objects.aupdate(due_at=timezone.now() - timedelta(seconds=1))
    answer = database_sync_to_async(answer_interaction)

    refusals = []
    for _ in ("before the clock", "after the clock"):
        with pytest.raises(Refused) as refused:
            await answer(run, KEY, "approval", {"outcome": "yes"}, "user-1")
        refusals.append(refused.value.code)
        await database_sync_to_async(answer_due)()

    stored = await Interaction.objects.aget()
    assert refusals == ["answered"] * 2
    assert (stored.answer, stored.answered_by) == ({"outcome": "timeout"}, "")
    assert await database_sync_to_async(rows)() == [("queued", "")]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer at a time.")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("keys", [(KEY, KEY), (KEY, "t:1:1:call-2")])
def test_of_answers_at_the_same_moment_one_counts_whatever_was_asked(keys: tuple[str, str]):
    barrier = threading.Barrier(2)

    def answer(run: Run, key: str, word: str) -> bool:
        barrier.wait(PATIENCE)
        try:
            answer_interaction(run, key, "approval", {"outcome": word}, word)
        except Refused:
            return False
        finally:
            connection.close()
        return True

    for _ in range(10):
        run = new_run(status="waiting")
        run.save(force_insert=True)
        for key in set(keys):
            Interaction.objects.create(run=run, key=key, kind="approval", asked={})

        with ThreadPoolExecutor(2) as threads:
            given = list(threads.map(answer, (run, run), keys, ("yes", "no")))

        [stored] = Interaction.objects.filter(run=run, answer__isnull=False)
        assert sum(given) == 1
        assert stored.answer == {"outcome": stored.answered_by}
        assert Run.objects.get(pk=run.pk).status == "queued"


def expired(**fields: Any) -> Run:
    run = new_run(beat_at=timezone.now() - timedelta(seconds=60), holder="gone", **fields)
    run.save(force_insert=True)
    return run


async def swept(hub: Hub, stream: UUID | None = None) -> tuple[list[UUID], list[UUID]]:
    """Return the runs that a sweep takes over, and those that it abandons."""
    taken: list[UUID] = []
    lost: list[UUID] = []

    async def resume_run(hub: Hub, run: Run) -> None:
        taken.append(run.pk)

    await Sweeper(hub, resume_run, lambda run: lost.append(run.pk)).sweep(stream)
    return taken, lost


async def test_a_run_without_a_process_is_taken_over_once_and_only_by_code_that_can():
    add = database_sync_to_async(expired)
    dead, stopped, newer = (
        await add(),
        await add(is_stop_requested=True),
        await add(format=2),
    )
    handed_over = await add(status="queued")
    await Run.objects.filter(pk=handed_over.pk).aupdate(holder="", beat_at=timezone.now())
    alive = await held_run(Hub())

    first = await swept(Hub())
    second = await swept(Hub())

    assert (set(first[0]), first[1]) == ({dead.pk, handed_over.pk}, [stopped.pk])
    assert second == ([], [stopped.pk])
    assert (await Run.objects.aget(pk=newer.pk)).holder == "gone"
    assert (await Run.objects.aget(pk=alive.pk)).attempts == 0


async def test_a_run_that_kills_each_process_is_given_up_after_the_sixth():
    run = await database_sync_to_async(expired)()

    sweeps = []
    for _ in range(7):
        sweeps.append(await swept(Hub()))
        await Run.objects.aupdate(beat_at=timezone.now() - timedelta(seconds=60))

    assert sweeps == [([run.pk], [])] * 6 + [([], [run.pk])]


async def test_a_process_that_is_about_to_end_takes_nothing_over():
    await database_sync_to_async(expired)()
    hub = Hub(is_closing=True)

    assert await swept(hub) == ([], [])
