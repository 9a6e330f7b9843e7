"""A row that the database refuses does not affect other rows, and is counted and logged."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import DataError, OperationalError

from apps.live.history.summary_writer import RowQueue
from apps.live.hub import Hub


class Table:
    """Refuses rows below 0; `is_down` after that many writes."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.writes_left = 1_000

    def store(self, rows: Sequence[int]) -> None:
        if not self.writes_left:
            raise OperationalError("the database is down")
        self.writes_left -= 1
        if any(row < 0 for row in rows):
            raise DataError("NUL") if -1 in rows else KeyError("column")
        self.rows += rows


async def now(work: Callable[[], Any]) -> Any:
    return work()


def queue_of(table: Table, *rows: int) -> RowQueue[int]:
    made = RowQueue("numbers", table.store, most=100, at_once=5, size_of=abs, most_bytes=1_000)
    for row in rows:
        assert made.add(row)
    return made


async def test_a_refused_row_takes_no_other_with_it(caplog: pytest.LogCaptureFixture):
    table = Table()
    queue = queue_of(table, 1, -1, 2, -2, 3, 4, -1, 5)

    await queue.flush(now)

    assert table.rows == [1, 2, 3, 4, 5]
    assert (queue.rows, queue.bytes) == ([], 0)
    assert queue.writer.refused == Counter({"DataError": 2, "KeyError": 1})
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    first = "A row of numbers was rejected and is lost"
    assert told == [first, first, "2 rows of numbers were rejected and are lost: DataError"]


async def test_rows_wait_for_the_database_and_none_is_written_twice():
    table = Table()
    table.writes_left = 3
    queue = queue_of(table, 1, -1, 2)
    with pytest.raises(OperationalError):
        await queue.flush(now)
    assert (table.rows, queue.rows) == ([1], [2])

    table.writes_left = 1
    await queue.flush(now)

    assert (table.rows, queue.rows, queue.bytes) == ([1, 2], [], 0)


async def test_a_background_task_that_fails_is_logged(caplog: pytest.LogCaptureFixture):
    async def fail() -> None:
        raise KeyError("follow-up")

    task = Hub().hold(fail())
    with pytest.raises(KeyError):
        await task

    [record] = [one for one in caplog.records if one.name == "apps.live.hub"]
    assert "A background task failed" in record.getMessage()
    assert "test_a_background_task_that_fails_is_logged" in record.getMessage()
