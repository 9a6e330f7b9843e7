"""Rows of runs without a conversation are written, dropped and deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from apps.agent.events import ModelUsage
from apps.agent.meter import ModelCallReport
from apps.errors import BadRequest
from apps.insights.models import ModelCall
from apps.live.database import on_a_thread
from apps.live.history import run_rows, summary_writer
from apps.live.history.run_rows import RunFigures
from apps.live.history.summary_writer import RunSummaryWriter
from apps.live.run_summary import RunSummary
from tests.live.records import PATIENCE

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def figures(application: str = "demo") -> RunFigures:
    return RunFigures("gateway", application, "key-ab12cd34")


async def statuses() -> list[tuple[str, str]]:
    found = RunSummary.objects.order_by("started_at").values_list("application", "status")
    return [row async for row in found]


async def test_a_run_that_goes_on_has_a_row_which_its_end_replaces():
    writer = RunSummaryWriter(on_a_thread)

    with writer.recorded(figures()) as progress:
        progress.counts.iterations = 2
        await writer.flush()
        begun = await statuses()
        progress.usage.append(ModelUsage("model", 7, 5))
    await writer.close()

    assert begun == [("demo", "running")]
    row = await RunSummary.objects.aget()
    assert (row.status, row.model_calls, row.prompt_tokens, row.completion_tokens) == (
        "done", 2, 7, 5
    )  # fmt: skip


async def test_rows_are_written_by_themselves(monkeypatch):
    monkeypatch.setattr(summary_writer, "TICK_SECONDS", 0.01)
    writer = RunSummaryWriter(on_a_thread)

    with writer.recorded(figures()):
        pass
    assert writer.task is not None
    async with asyncio.timeout(PATIENCE):
        await writer.task

    assert await statuses() == [("demo", "done")]


async def test_a_request_that_was_wrong_is_no_failure():
    writer = RunSummaryWriter(on_a_thread)

    with pytest.raises(BadRequest), writer.recorded(figures()):
        raise BadRequest("No such tool")
    await writer.close()

    row = await RunSummary.objects.aget()
    assert (row.status, row.error_reference) == ("refused", "")


async def test_too_many_rows_are_dropped_with_one_warning(monkeypatch, caplog):
    monkeypatch.setattr(summary_writer, "MOST_WAITING", 2)
    writer = RunSummaryWriter(on_a_thread)

    for name in ("one", "two", "three", "four"):
        with writer.recorded(figures(name)):
            pass
    await writer.close()

    assert await statuses() == [("one", "done"), ("two", "done")]
    [warning] = [entry.message for entry in caplog.records if "Dropped" in entry.message]
    assert warning == "Dropped 2 rows of runs and calls: the queue is full"


async def test_rows_wait_while_the_database_is_away(monkeypatch):
    monkeypatch.setattr(summary_writer, "TICK_SECONDS", 0.01)
    monkeypatch.setattr(summary_writer, "PAUSE_SECONDS", 0.01)
    attempts = 0

    async def execute(work: Callable[[], Any]) -> Any:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            raise OperationalError("away")
        return await on_a_thread(work)

    writer = RunSummaryWriter(execute)
    with writer.recorded(figures()):
        pass
    assert writer.task is not None
    async with asyncio.timeout(PATIENCE):
        await writer.task

    assert await statuses() == [("demo", "done")]


async def test_what_is_being_written_when_the_process_ends_is_written_once(monkeypatch):
    monkeypatch.setattr(summary_writer, "TICK_SECONDS", 0.01)
    is_written, may_return = asyncio.Event(), asyncio.Event()

    async def execute(work: Callable[[], Any]) -> Any:
        await on_a_thread(work)
        is_written.set()
        await may_return.wait()

    writer = RunSummaryWriter(execute)
    with writer.recorded(figures()) as progress:
        progress.meter.model_called(ModelCallReport("gpt", 1.0))
    await is_written.wait()
    closing = asyncio.create_task(writer.close())
    await asyncio.sleep(0)
    may_return.set()
    async with asyncio.timeout(PATIENCE):
        await closing

    assert await ModelCall.objects.acount() == 1
    assert await statuses() == [("demo", "done")]


async def test_a_name_that_does_not_fit_is_cut():
    writer = RunSummaryWriter(on_a_thread)

    with writer.recorded(figures("x\0" + "é" * 300)):
        pass
    await writer.close()

    row = await RunSummary.objects.aget()
    assert row.application == "x\N{REPLACEMENT CHARACTER}" + "é" * 253


async def test_counts_that_no_database_takes_are_bounded():
    writer = RunSummaryWriter(on_a_thread)

    with writer.recorded(figures()) as progress:
        progress.usage.append(ModelUsage("model", -5, 2**70))
    await writer.close()

    row = await RunSummary.objects.aget()
    assert (row.prompt_tokens, row.completion_tokens) == (0, 2**63 - 1)


async def test_a_run_ends_as_failed_with_its_process_and_not_before():
    dead, alive = RunSummaryWriter(on_a_thread), RunSummaryWriter(on_a_thread)
    long_ago = timezone.now() - timedelta(seconds=run_rows.SILENT_SECONDS + 1)

    with dead.recorded(figures("dead")), alive.recorded(figures("alive")):
        await dead.flush()
        await alive.flush()
        await RunSummary.objects.aupdate(seen_at=long_ago)
        await alive.beat()
        ended = await on_a_thread(run_rows.end_abandoned)
        found = await statuses()
    await alive.close()
    await dead.close()

    assert ended == 1
    assert found == [("dead", "failed"), ("alive", "running")]


@pytest.mark.parametrize(("days", "left"), [(30, ["new"]), (0, ["old", "new"])])
def test_old_rows_are_deleted(settings, days, left):
    settings.RUN_ROWS_DAYS = days
    for name, age in (("old", 31), ("new", 29)):
        RunSummary.objects.create(
            application=name, status="done", started_at=timezone.now() - timedelta(days=age)
        )

    deleted = run_rows.delete_old()

    assert deleted == 2 - len(left)
    names = RunSummary.objects.order_by("started_at").values_list("application", flat=True)
    assert list(names) == left
