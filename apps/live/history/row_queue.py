"""Queues rows for the database, so that callers do not have to wait for it."""

import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Generic, TypeVar

from django.db import InterfaceError, OperationalError

from apps.live.database import Execute

logger = logging.getLogger(__name__)

Row = TypeVar("Row")


class RowWriter(Generic[Row]):
    """Writes rows in batches. If the database rejects a batch, its rows are written one by one, and
    rejected rows are dropped.

    `store` stores all rows of a batch or none. `refused` counts rejected rows by error type.
    """

    def __init__(self, name: str, store: Callable[[Sequence[Row]], object]) -> None:
        self.name = name
        self.store = store
        self.refused: Counter[str] = Counter()

    async def write(self, rows: Sequence[Row], execute: Execute) -> AsyncIterator[int]:
        """Write the rows in order. After each statement, yield the number of rows that were written
        or dropped.

        Raises `OperationalError` or `InterfaceError` if the database is down, without writing the
        remaining rows.
        """
        try:
            await execute(partial(self.store, rows))
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:  # noqa: BLE001 - logged by kind
            if len(rows) > 1:
                for row in rows:
                    async for done in self.write([row], execute):
                        yield done
                return
            self.refuse(error)
        yield len(rows)

    def refuse(self, error: Exception) -> None:
        kind = type(error).__name__
        self.refused[kind] += 1
        count = self.refused[kind]
        if count == 1:
            logger.error("A row of %s was rejected and is lost", self.name, exc_info=error)
        elif count & (count - 1) == 0:  # Log each time the number doubles.
            logger.error("%d rows of %s were rejected and are lost: %s", count, self.name, kind)


class RowQueue(Generic[Row]):
    """A queue of up to `most` rows and `most_bytes` bytes. Further rows are dropped and counted in
    `dropped`.

    `store` is called with up to `at_once` rows, and must store all of them or none.
    """

    def __init__(
        self,
        name: str,
        store: Callable[[Sequence[Row]], object],
        *,
        most: int,
        at_once: int,
        size_of: Callable[[Row], int] = lambda row: 0,
        most_bytes: int = 0,
    ) -> None:
        self.writer = RowWriter(name, store)
        self.most, self.at_once = most, at_once
        self.size_of, self.most_bytes = size_of, most_bytes
        self.rows: list[Row] = []
        self.bytes = 0
        self.dropped = 0

    def add(self, row: Row) -> bool:
        """Queue a row. Return False if it was dropped because the queue is full."""
        size = self.size_of(row)
        if len(self.rows) >= self.most or self.bytes + size > self.most_bytes > 0:
            self.dropped += 1
            return False
        self.rows.append(row)
        self.bytes += size
        return True

    async def flush(self, execute: Execute) -> None:
        """Write all queued rows. Raises `OperationalError` or `InterfaceError` if the database is
        down, with the remaining rows still queued.
        """
        while some := self.rows[: self.at_once]:
            async for done in self.writer.write(some, execute):
                self.bytes -= sum(map(self.size_of, self.rows[:done]))
                del self.rows[:done]
