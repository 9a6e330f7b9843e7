from __future__ import annotations

import asyncio
from threading import Event

import pytest
from django.db import OperationalError

from apps.catalog.corpora import indexer


async def test_it_is_waited_for_and_a_failure_is_told(monkeypatch: pytest.MonkeyPatch):
    made: list[tuple[int, int]] = []

    def make(dimension: int, rows: int) -> None:
        made.append((dimension, rows))
        if rows == 0:
            raise OperationalError("The disk is full.")

    monkeypatch.setattr(indexer, "make_index", make)

    await indexer.make_in_thread(384, 7)
    with pytest.raises(OperationalError, match="full"):
        await indexer.make_in_thread(384, 0)

    assert made == [(384, 7), (384, 0)]


async def test_the_end_of_the_process_does_not_wait_for_it(monkeypatch: pytest.MonkeyPatch):
    going_on, has_begun = Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def make(dimension: int, rows: int) -> None:
        loop.call_soon_threadsafe(has_begun.set)
        going_on.wait(60)

    monkeypatch.setattr(indexer, "make_index", make)
    task = asyncio.create_task(indexer.make_in_thread(384, 7))
    await asyncio.wait_for(has_begun.wait(), 60)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 60)
    going_on.set()
