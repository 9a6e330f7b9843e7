"""Operators list and cancel jobs, and pause and resume their kinds, equally on both backends."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.db import connection
from django.utils import timezone

from apps.tasks import failures, kinds
from apps.tasks.jobs import Job
from apps.tasks.status import queue
from tests.tasks.jobs import done, fail, never_end, note, until, working
from tests.tasks.test_workers import declare

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]


@pytest.fixture(autouse=True)
def nothing_done_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    done.clear()
    declare(monkeypatch)
    if connection.vendor == "postgresql":
        monkeypatch.setattr("apps.tasks.postgresql.worker.POLL_SECONDS", 0.1)


async def in_thread(function: Any, *args: Any) -> Any:
    return await database_sync_to_async(function)(*args)


def listed(state: str, kind: str = kinds.ALL) -> list[tuple[str, list[Any]]]:
    jobs: list[Job] = list(queue().jobs(state, kind, 10))
    return [(one.kind, list(one.args)) for one in jobs]


async def counts() -> dict[str, int]:
    found: dict[str, int] = await in_thread(queue().counts)
    return found


async def reach(**wanted: int) -> None:
    """Wait until the jobs by state are exactly these."""
    async with asyncio.timeout(60):
        while await counts() != wanted:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("paused", ["tests.note", kinds.ALL])
async def test_jobs_of_a_paused_kind_wait_until_it_is_resumed(paused: str):
    assert await in_thread(kinds.pause, paused)
    assert not await in_thread(kinds.pause, paused)
    async with working():
        await note.aenqueue("held")
        if paused != kinds.ALL:
            await never_end.aenqueue("soup")
            await until(lambda: done == ["soup"])
        await reach(paused=1, **({} if paused == kinds.ALL else {"running": 1}))
        waiting = await in_thread(queue().waiting_since)
        assert (await in_thread(listed, "paused"), waiting) == ([("tests.note", ["held"])], None)
        done.clear()

        assert await in_thread(queue().resume, paused)
        await until(lambda: done == ["held"])
    assert not await in_thread(queue().resume, paused)


async def test_a_pause_takes_no_attempt_away():
    await fail.aenqueue()
    await in_thread(kinds.pause, "tests.fail")
    async with working():
        await reach(paused=1)
        await in_thread(queue().resume, "tests.fail")
        await reach(failed=1)

    assert done == ["failed", "failed"]


async def test_a_waiting_job_is_cancelled():
    await note.using(run_after=timezone.now() + timedelta(hours=1)).aenqueue("late")
    (job,) = await in_thread(queue().jobs, "ready", "tests.note", 10)

    found = [await in_thread(failures.cancel, job.id) for _ in range(2)]

    assert (found[0].state, found[0].args, found[1]) == ("ready", ["late"], None)
    assert await counts() == {}


async def test_a_running_job_is_cancelled_and_does_not_run_again():
    await never_end.aenqueue("soup")
    async with working():
        await until(lambda: done == ["soup"])
        (job,) = await in_thread(queue().jobs, "running", kinds.ALL, 10)
        assert job.started_at is not None

        await in_thread(failures.cancel, job.id)

        await reach()
    assert done == ["soup", "gave up soup"]


async def test_a_failed_job_is_deleted():
    await fail.aenqueue()
    async with working():
        await reach(failed=1)
    (job,) = await in_thread(queue().jobs, "failed", "tests.fail", 10)

    assert await in_thread(listed, "failed", "tests.note") == []
    await in_thread(failures.cancel, job.id)
    assert await counts() == {}


async def test_old_failed_jobs_are_deleted():
    await fail.aenqueue()
    async with working():
        await reach(failed=1)

    found = [
        await in_thread(queue().delete_failed, timezone.now() + difference)
        for difference in (timedelta(hours=-1), timedelta(hours=1))
    ]

    assert (found, await counts()) == ([0, 1], {})
