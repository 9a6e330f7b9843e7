"""The journal: written beside the answer, each event once, also when the database fails."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from channels.db import database_sync_to_async
from django.db import OperationalError, connection, transaction

from apps.errors import LeaseLost, Refused
from apps.live import journal, leases
from apps.live.hub import Hub, RunLog
from apps.live.journal import Batch, Ending
from apps.live.models import JournalEntry, Run
from apps.live.supervisor import RunOutcome, RunSupervisor

pytestmark = pytest.mark.django_db


def new_run(**fields: Any) -> Run:
    given = {"stream": uuid4(), "request": uuid4(), "application": "demo", "bucket": "user-1"}
    return Run(**{**given, **fields})


def said(*texts: str) -> tuple[dict[str, str], ...]:
    return tuple({"type": "message.delta", "text": text} for text in texts)


class Outage:
    """The database refuses so many writes to the journal."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if self.times == 0 or not sql.startswith('INSERT INTO "runs_journalentry"'):
            return execute(sql, params, many, context)
        self.times -= 1
        raise OperationalError("the database went away")


@pytest.fixture
def outage() -> Iterator[Outage]:
    # installed here because tests that are coroutines run on another thread than the database
    outage = Outage()
    with connection.execute_wrapper(outage):
        yield outage


async def kept(run: Run, events: tuple[dict[str, str], ...], stored: list[str]) -> Hub:
    """Let a run say something, and wait until it is over."""
    hub = Hub()
    log = RunLog(run.stream, run.pk, 1)

    async def work() -> None:
        for event in events:
            log.append(event)

    def conclude(outcome: RunOutcome) -> Ending:
        ending = ({"type": "run.status", "status": str(outcome.status)},)
        return Ending(outcome.status, ending, lambda: stored.append(outcome.status))

    RunSupervisor(hub, log, conclude).start(work())
    async with asyncio.timeout(60):
        while hub.tasks:
            await asyncio.wait(hub.tasks)
    return hub


def texts_of(stream: UUID) -> list[tuple[int, str]]:
    return [
        (number, event.get("text") or event["status"])
        for number, _, event in journal.read(stream, 0)
    ]


@pytest.mark.parametrize("failures", [0, 1, 2, 3])
async def test_a_database_that_fails_now_and_then_loses_and_doubles_nothing(
    failures: int, outage: Outage
):
    run = new_run()
    stored: list[str] = []
    await run.asave(force_insert=True)

    outage.times = failures
    hub = await kept(run, said("one", "two"), stored)

    assert await database_sync_to_async(texts_of)(run.stream) == [
        (1, "one"),
        (2, "two"),
        (3, "done"),
    ]
    assert (stored, hub.logs) == (["done"], {})
    assert (await Run.objects.aget()).status == "done"


async def test_a_database_that_stays_away_ends_the_run_as_failed_for_those_who_watch(
    settings: Any, outage: Outage
):
    settings.RUN_LEASE_SECONDS = 0.15
    run = new_run()
    stored: list[str] = []
    await run.asave(force_insert=True)

    outage.times = 1_000
    hub = await kept(run, said("one"), stored)

    log = hub.logs[run.stream]
    assert [event for _, _, event in log.after(0, 10)] == [
        *said("one"),
        {"type": "run.status", "status": "failed"},
    ]
    assert (log.is_over, stored) == (True, [])
    assert not await JournalEntry.objects.aexists()


def test_a_batch_that_is_written_again_is_there_once():
    run = new_run()
    run.save(force_insert=True)
    batch = Batch(run.stream, run.pk, 1, said("one", "two"))

    journal.write(batch)
    journal.write(batch)

    assert texts_of(run.stream) == [(1, "one"), (2, "two")]
    assert journal.last_number(run.stream) == 2


def test_an_ending_that_is_written_again_is_stored_once():
    run = new_run()
    stored: list[str] = []
    run.save(force_insert=True)
    batch = Batch(run.stream, run.pk, 1, said("end"))
    ending = Ending("done", batch.events, lambda: stored.append("answer"))

    journal.finish(batch, ending)
    journal.finish(batch, ending)

    assert (texts_of(run.stream), stored) == ([(1, "end")], ["answer"])


def test_an_ending_that_cannot_be_stored_is_not_an_ending():
    run = new_run()
    run.save(force_insert=True)
    batch = Batch(run.stream, run.pk, 1, said("end"))

    def fail() -> None:
        raise OperationalError("the database went away")

    with pytest.raises(OperationalError), transaction.atomic():
        journal.finish(batch, Ending("done", batch.events, fail))

    run.refresh_from_db()
    assert (run.status, texts_of(run.stream)) == ("running", [])


@pytest.mark.parametrize("status", ["done", "failed", "stopped", None])
def test_who_has_lost_the_lease_writes_nothing(status: str | None):
    run = new_run(status=status or "running")
    if status is not None:
        run.save(force_insert=True)
    batch = Batch(run.stream, run.pk, 1, said("late"))

    with pytest.raises(LeaseLost):
        journal.write(batch)
    with pytest.raises(LeaseLost):
        journal.finish(batch, Ending("done", batch.events, lambda: None))
    with pytest.raises(LeaseLost):
        leases.beat(run.pk)
    with pytest.raises(LeaseLost):
        leases.is_stop_requested(run.pk)

    assert texts_of(run.stream) == []


def test_a_stream_has_one_run_going_at_a_time():
    first = new_run()
    leases.claim(first)

    with pytest.raises(Refused) as refused:
        leases.claim(new_run(stream=first.stream))
    Run.objects.update(status="done")
    leases.claim(new_run(stream=first.stream))

    assert refused.value.code == "run_going"
    assert Run.objects.count() == 2


def test_a_request_of_a_visitor_is_claimed_once():
    first = new_run()
    leases.claim(first)

    with pytest.raises(Refused):
        leases.claim(new_run(request=first.request))
    leases.claim(new_run(request=first.request, bucket="user-2"))

    assert Run.objects.count() == 2


async def test_a_silent_run_renews_its_lease(settings: Any):
    settings.RUN_LEASE_SECONDS = 0.03
    run = new_run()
    await run.asave(force_insert=True)
    hub, log, quiet = Hub(), RunLog(run.stream, run.pk, 1), asyncio.Event()

    async def work() -> None:
        await quiet.wait()

    supervisor = RunSupervisor(
        hub, log, lambda outcome: Ending(outcome.status, said("end"), lambda: None)
    )
    supervisor.writer.tick = 0.01
    supervisor.start(work())
    async with asyncio.timeout(60):
        while (await Run.objects.aget()).beat_at == run.beat_at:
            await asyncio.sleep(0.005)
    quiet.set()
    async with asyncio.timeout(60):
        while hub.tasks:
            await asyncio.wait(hub.tasks)

    assert (await Run.objects.aget()).status == "done"


async def test_work_that_does_not_stop_is_left_to_itself():
    run = new_run()
    await run.asave(force_insert=True)
    hub, log, never = Hub(), RunLog(run.stream, run.pk, 1), asyncio.Event()
    started = asyncio.Event()

    async def work() -> None:
        while not never.is_set():
            try:
                started.set()
                await never.wait()
            except asyncio.CancelledError:
                continue

    supervisor = RunSupervisor(
        hub, log, lambda outcome: Ending(outcome.status, said("end"), lambda: None)
    )
    supervisor.stop_seconds = 0.01
    supervisor.start(work())
    await started.wait()
    supervisor.stop()
    try:
        async with asyncio.timeout(60):
            while hub.tasks:
                await asyncio.wait(hub.tasks)
    finally:
        never.set()

    assert (await Run.objects.aget()).status == "stopped"
