"""Rows that wait for the database; what appends one does not wait."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, TypeVar

from django.db import InterfaceError, OperationalError

from apps.live.database import Execute

logger = logging.getLogger(__name__)

Row = TypeVar("Row")


class RowQueue(Generic[Row]):
    """At most `most` rows wait, and `most_bytes` of them; more are dropped and counted.

    `write` stores rows on a database thread, at most `at_once` of them.
    """

    def __init__(
        self,
        name: str,
        write: Callable[[Sequence[Row]], object],
        *,
        most: int,
        at_once: int,
        size_of: Callable[[Row], int] = lambda row: 0,
        most_bytes: int = 0,
    ) -> None:
        self.name = name
        self.write = write
        self.most, self.at_once = most, at_once
        self.size_of, self.most_bytes = size_of, most_bytes
        self.rows: list[Row] = []
        self.bytes = 0
        self.dropped = 0
        self.has_refused = False
        """Whether the database refused the last rows."""

    def add(self, row: Row) -> bool:
        """False for a row that is dropped."""
        size = self.size_of(row)
        if len(self.rows) >= self.most or self.bytes + size > self.most_bytes > 0:
            self.dropped += 1
            return False
        self.rows.append(row)
        self.bytes += size
        return True

    async def flush(self, execute: Execute) -> None:
        """Raises `OperationalError`, `InterfaceError`; the rows are still to be written then."""
        while some := self.rows[: self.at_once]:
            await self.write_some(some, execute)
            del self.rows[: len(some)]
            self.bytes -= sum(map(self.size_of, some))

    async def write_some(self, rows: Sequence[Row], execute: Execute) -> None:
        try:
            await execute(partial(self.write, rows))
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            if not self.has_refused:  # told once, and not each second
                logger.exception("The rows of %d %s cannot be written", len(rows), self.name)
            self.has_refused = True
        else:
            self.has_refused = False
