"""The journal is written during the answer, each event once, even if the database fails."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.db import DataError, OperationalError, connection

from apps.agent.ledger import Step
from apps.errors import LeaseLost, NotStored, Refused
from apps.live import leases
from apps.live.database import on_a_thread
from apps.live.events import StatusChanged
from apps.live.hub import Hub
from apps.live.journal import commits, journal
from apps.live.journal.commits import Ending, Portion
from apps.live.journal.log import RunLog
from apps.live.journal.run_record import RunRecord
from apps.live.models import JournalEntry, Run, RunStep
from tests.contract import proves
from tests.live.records import (
    held_run,
    new_run,
    said,
    settled,
    supervised,
    texts_of,
    until,
)

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


class Outage:
    """The database refuses that many writes of a kind to the journal."""

    def __init__(self) -> None:
        self.times = 0
        self.error: Exception = OperationalError("the database went away")

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if self.times == 0 or 'INTO "runs_journalentry"' not in sql:
            return execute(sql, params, many, context)
        self.times -= 1
        raise self.error


@pytest.fixture
def outage() -> Iterator[Outage]:
    # installed here because coroutine tests run on another thread than the database
    outage = Outage()
    with connection.execute_wrapper(outage):
        yield outage


async def kept(hub: Hub, run: Run, texts: tuple[str, ...], stored: list[str]) -> None:
    """Let a run emit something, and wait until it is over."""
    supervisor = supervised(hub, run, stored)

    async def work() -> None:
        for event in said(*texts):
            supervisor.record.say(event)

    supervisor.start(work())
    await settled(hub)


@pytest.mark.parametrize("failures", [0, 1, 2, 3])
async def test_a_database_that_fails_now_and_then_loses_and_doubles_nothing(
    failures: int, outage: Outage
):
    hub = Hub()
    run = await held_run(hub)
    stored: list[str] = []

    outage.times = failures
    await kept(hub, run, ("one", "two"), stored)

    assert await database_sync_to_async(texts_of)(run.stream) == [(6, "onetwo"), (7, "done")]
    assert (stored, hub.streams.logs) == (["done"], {})
    ended = await Run.objects.aget()
    assert (ended.status, ended.holder) == ("done", "")


async def test_a_database_that_stays_away_ends_the_run_as_failed_for_those_who_watch(
    settings: Any, outage: Outage
):
    settings.RUN_LEASE_SECONDS = 0.15
    hub = Hub()
    run = await held_run(hub)
    stored: list[str] = []

    outage.times = 1_000
    await kept(hub, run, ("one",), stored)

    log = hub.streams.logs[run.stream]
    assert [event for _, _, event in log.after(0)] == [*said("one"), StatusChanged("failed")]
    assert (log.is_over, stored) == (True, [])
    assert not await JournalEntry.objects.aexists()


async def test_a_run_whose_rows_are_refused_does_not_fail_its_neighbour(outage: Outage):
    hub = Hub()
    runs = [await held_run(hub), await held_run(hub)]
    stored: list[str] = []

    outage.times, outage.error = 2, DataError("a row that cannot be")
    await asyncio.gather(*(kept(hub, run, ("one",), stored) for run in runs))

    statuses = {run.status async for run in Run.objects.all()}
    assert (statuses, stored) == ({"running", "done"}, ["done"])


async def test_a_run_whose_ending_cannot_be_made_does_not_fail_its_neighbour():
    class Refusing(list[str]):
        def append(self, status: str) -> None:
            raise ValueError(status)

    hub = Hub()
    runs = [await held_run(hub), await held_run(hub)]
    stored: list[str] = []

    await asyncio.gather(
        kept(hub, runs[0], ("one",), Refusing()), kept(hub, runs[1], ("one",), stored)
    )

    statuses = [(await Run.objects.aget(pk=run.pk)).status for run in runs]
    # The rolled-back transaction may have reached the other process first.
    assert (statuses, set(stored)) == (["running", "done"], {"done"})
    assert hub.committer.records == set()


def test_a_portion_that_is_written_again_is_there_once():
    run = new_run(holder="here")
    run.save(force_insert=True)
    entry = journal.entry_of(run.stream, run.pk, 1, said("one", "two"))
    portion = Portion(run.pk, entry)

    first = commits.write("here", [portion])
    portion.is_repeated = True
    entry.pk = None
    second = commits.write("here", [portion])

    assert (first, second) == (frozenset(), frozenset())
    assert texts_of(run.stream) == [(6, "onetwo")]
    assert journal.last_number(run.stream) == 6


@proves("D-07")
def test_an_ending_that_is_written_again_is_stored_once():
    run = new_run(holder="here")
    run.save(force_insert=True)
    stored: list[str] = []
    entry = journal.entry_of(run.stream, run.pk, 1, said("end"))
    ending = Ending("done", (), lambda: stored.append("answer"))

    first = commits.write("here", [Portion(run.pk, entry, ending=ending)])
    second = commits.write("here", [Portion(run.pk, entry, ending=ending, is_repeated=True)])

    assert (first, second) == (frozenset(), frozenset())
    assert (texts_of(run.stream), stored) == ([(3, "end")], ["answer"])


def test_an_ending_that_cannot_be_stored_is_not_an_ending():
    run = new_run(holder="here")
    run.save(force_insert=True)
    entry = journal.entry_of(run.stream, run.pk, 1, said("end"))

    def fail() -> None:
        raise OperationalError("the database went away")

    with pytest.raises(OperationalError):
        commits.write("here", [Portion(run.pk, entry, ending=Ending("done", (), fail))])

    run.refresh_from_db()
    assert (run.status, texts_of(run.stream)) == ("running", [])


@proves("D-09")
@pytest.mark.parametrize(
    ("status", "holder"),
    [
        ("done", "here"),
        ("failed", "here"),
        ("stopped", "here"),
        ("waiting", "here"),
        ("running", "elsewhere"),
        ("queued", ""),
        (None, ""),
    ],
)
def test_who_has_lost_the_lease_writes_nothing(status: str | None, holder: str):
    run = new_run(status=status or "running", holder=holder)
    if status is not None:
        run.save(force_insert=True)
    entry = journal.entry_of(run.stream, run.pk, 1, said("late"))

    lost = commits.write("here", [Portion(run.pk, entry, ending=Ending("done"))])

    assert lost == {run.pk}
    assert commits.read_signals("here", [run.pk]).lost == {run.pk}
    assert texts_of(run.stream) == []


@pytest.mark.parametrize("status", ["running", "queued", "waiting"])
def test_a_stream_has_one_run_at_a_time(status: str):
    first = new_run(status=status)
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
    settings.RUN_LEASE_SECONDS = 0.3
    hub, quiet = Hub(), asyncio.Event()
    run = await held_run(hub)

    async def work() -> None:
        await quiet.wait()

    supervised(hub, run).start(work())
    await until(lambda: Run.objects.get().beat_at > run.beat_at)
    quiet.set()
    await settled(hub)

    assert (await Run.objects.aget()).status == "done"


async def test_work_that_does_not_stop_is_left_to_itself():
    hub, never, started = Hub(), asyncio.Event(), asyncio.Event()
    run = await held_run(hub)

    async def work() -> None:
        while not never.is_set():
            try:
                started.set()
                await never.wait()
            except asyncio.CancelledError:
                continue

    supervisor = supervised(hub, run)
    supervisor.stop_seconds = 0.01
    supervisor.start(work())
    await started.wait()
    supervisor.stop()
    try:
        await settled(hub)
    finally:
        never.set()

    assert (await Run.objects.aget()).status == "stopped"


async def test_who_flushes_goes_on_when_everything_before_is_stored():
    hub = Hub()
    run = await held_run(hub)
    supervisor = supervised(hub, run)
    seen: list[Any] = []

    def stored() -> None:
        steps = RunStep.objects.values_list("key", "status", "policy", "result")
        seen.append((texts_of(run.stream), list(steps)))

    async def work() -> None:
        supervisor.record.say(said("one")[0])
        supervisor.ledger.record(Step("t:1:0:c", "tool", "begun", "never"))
        await supervisor.ledger.flush()
        await database_sync_to_async(stored)()
        supervisor.ledger.record(Step("t:1:0:c", "tool", "done", "never", {"text": "a\0b"}))

    supervisor.start(work())
    await settled(hub)
    await database_sync_to_async(stored)()

    assert seen == [
        ([(3, "one")], [("t:1:0:c", "begun", "never", {})]),
        ([(3, "one"), (4, "done")], [("t:1:0:c", "done", "never", {"text": "a\ufffdb"})]),
    ]


@pytest.mark.parametrize("was_taken", [True, False])
async def test_a_flush_fails_where_nothing_can_be_stored(
    was_taken: bool, settings: Any, outage: Outage
):
    settings.RUN_LEASE_SECONDS = 0.15
    hub = Hub()
    run = await held_run(hub)
    if was_taken:
        await Run.objects.aupdate(holder="another")
    outage.times = 1_000
    supervisor = supervised(hub, run)
    failures: list[type[BaseException]] = []

    async def work() -> None:
        supervisor.record.say(said("one")[0])
        try:
            await supervisor.ledger.flush()
        except (LeaseLost, NotStored) as error:
            failures.append(type(error))
            raise

    supervisor.start(work())
    await settled(hub)

    assert failures == [LeaseLost if was_taken else NotStored]


async def test_text_is_written_about_once_a_second_and_all_else_at_the_next_tick():
    run = new_run()
    record = RunRecord(RunLog(run.stream, run.pk, 1), lambda: None)
    now = time.monotonic()

    dues = [record.is_due(now)]
    for event in said("one ", "two"):
        record.say(event)
    dues += [record.is_due(now + 0.9), record.is_due(now + 2)]
    portion = record.next_portion(now)
    record.settle()
    dues.append(record.is_due(now + 2))
    record.say(StatusChanged("running"))
    dues.append(record.is_due(now))

    assert dues == [False, False, True, False, True]
    assert portion.entry is not None
    assert portion.entry.events == [{"type": "text", "text": "one two"}]


async def test_what_runs_say_at_a_time_is_one_transaction():
    written: list[int] = []

    async def execute(work: Any) -> Any:
        if work.func is commits.write:
            written.append(len(work.args[1]))
        return await on_a_thread(work)

    hub = Hub(execute)
    runs = [await held_run(hub) for _ in range(5)]
    stored: list[str] = []

    await asyncio.gather(*(kept(hub, run, ("one",), stored) for run in runs))

    assert (sum(written), len(stored)) == (5, 5)
    assert len(written) <= 2
