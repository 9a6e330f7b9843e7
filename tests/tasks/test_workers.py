"""Jobs run once, retry, wait until they are due, and survive the process that ran them.

The same tests run with rows on SQLite and with Procrastinate on PostgreSQL.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.db import connection, transaction
from django.utils import timezone

from apps.chores import Chore, Interval
from apps.tasks.models import ChoreRun, TaskFailure
from apps.tasks.status import queue
from tests.tasks.jobs import done, fail, fail_twice, note, note_async, until, working

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]


@pytest.fixture(autouse=True)
def nothing_done_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    done.clear()
    declare(monkeypatch)
    if connection.vendor == "postgresql":
        monkeypatch.setattr("apps.tasks.postgresql.worker.POLL_SECONDS", 0.1)


def declare(monkeypatch: pytest.MonkeyPatch, *chores: Chore) -> None:
    engine = "embedded" if connection.vendor == "sqlite" else "postgresql"
    for module in ("chore_task", f"{engine}.worker"):
        monkeypatch.setattr(f"apps.tasks.{module}.all_chores", lambda: iter(chores))


async def run_until(count: int) -> list[Any]:
    async with working():
        await until(lambda: len(done) >= count)
    return done


async def test_jobs_that_wait_run_when_a_worker_starts():
    await note.aenqueue("first")
    await note_async.aenqueue("second", loud=True)

    assert sorted(await run_until(2)) == ["SECOND", "first"]
    assert await database_sync_to_async(queue().counts)() == {}


async def test_a_job_runs_at_once_while_a_worker_runs():
    async with working():
        await until(lambda: True)
        await note.aenqueue("at once")
        await until(lambda: done == ["at once"])


@pytest.mark.skipif(connection.vendor == "sqlite", reason="There is no connection pool on SQLite.")
async def test_a_worker_survives_a_long_outage_and_an_error_that_nobody_expects(
    monkeypatch: pytest.MonkeyPatch,
):
    from psycopg_pool import AsyncConnectionPool, PoolTimeout

    open_pool = AsyncConnectionPool.open
    errors = [PoolTimeout("pool initialization incomplete after 30.0 sec"), RuntimeError("odd")]
    failures = iter(errors)

    async def fail_once(pool: Any, *arguments: Any, **options: Any) -> None:
        if error := next(failures, None):
            raise error
        await open_pool(pool, *arguments, **options)

    monkeypatch.setattr(AsyncConnectionPool, "open", fail_once)
    await note.aenqueue("after the outage")

    assert await run_until(1) == ["after the outage"]


async def test_a_job_of_a_transaction_that_is_rolled_back_never_runs():
    def enqueue_and_fail() -> None:
        with transaction.atomic():
            note.enqueue("rolled back")
            transaction.set_rollback(True)
        note.enqueue("stored")

    await database_sync_to_async(enqueue_and_fail)()

    assert await run_until(1) == ["stored"]


async def test_a_job_waits_for_its_time():
    later = timezone.now() + timedelta(hours=1)
    soon = timezone.now() + timedelta(seconds=0.3)
    await note.using(run_after=later).aenqueue("in an hour")
    await note.using(run_after=soon).aenqueue("soon")

    assert await run_until(1) == ["soon"]
    assert timezone.now() >= soon
    assert await database_sync_to_async(queue().counts)() == {"ready": 1}


async def test_a_job_that_fails_is_retried(caplog):
    await fail_twice.aenqueue("plate")

    assert await run_until(3) == ["plate"] * 3
    rows = TaskFailure.objects.order_by("attempt").values_list("task", "attempt", "is_final")
    assert [row async for row in rows] == [
        ("tests.fail_twice", 1, False),
        ("tests.fail_twice", 2, False),
    ]


async def test_a_job_that_fails_in_every_attempt_is_recorded_as_failed():
    await fail.aenqueue()

    await run_until(2)
    last = await TaskFailure.objects.afirst()
    assert last is not None
    assert (last.task, last.attempt, last.is_final) == ("tests.fail", 2, True)
    assert last.error.endswith("RuntimeError: The plate is hot.\n")
    assert await database_sync_to_async(queue().counts)() == {"failed": 1}
    again = [await database_sync_to_async(queue().retry)(last.job) for _ in range(2)]
    assert again == [True, False]
    assert await database_sync_to_async(queue().counts)() == {"ready": 1}
    assert await database_sync_to_async(queue().waiting_since)() is not None


async def test_a_chore_is_done_when_a_worker_starts_and_its_time_is_recorded(monkeypatch, caplog):
    caplog.set_level("INFO", "apps.tasks")
    declare(
        monkeypatch,
        Chore("Washed plates", "tests.tasks.jobs.wash", Interval.TEN_MINUTES),
        Chore("Broke plates", "tests.tasks.jobs.break_plate", Interval.TEN_MINUTES),
    )

    await run_until(2)
    rows = ChoreRun.objects.order_by("work").values_list("work", "changed", "error")
    assert [row async for row in rows] == [
        ("tests.tasks.jobs.break_plate", 0, "RuntimeError: The plate is hot."),
        ("tests.tasks.jobs.wash", 3, ""),
    ]
    assert sorted(set(caplog.messages) & {"Washed plates: 3", "Broke plates: failed"}) == [
        "Broke plates: failed",
        "Washed plates: 3",
    ]
