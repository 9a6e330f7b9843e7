"""An outage of the database or the disk is logged once a minute, however much fails because of it."""

from __future__ import annotations

import errno
import logging
import time
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError

from apps.catalog.corpora.indexer import Indexer
from apps.live import sweeper
from apps.live.sweeper import Sweeper
from apps.outages import DATABASE, ENDED, LONGEST_PAUSE_SECONDS, Pauses
from apps.runs.failures import failure
from apps.triggers import clock
from apps.triggers.outbox import Outbox
from quickapps_site.outage_log import SECONDS, OutageFilter

DOWN = OperationalError("connection refused")
LOGGER = logging.getLogger("apps.outage_test")


class Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.tracebacks = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
        self.tracebacks += bool(record.exc_info)


@pytest.fixture(name="log")
def _log(monkeypatch: pytest.MonkeyPatch) -> Lines:
    handler = Lines()
    handler.addFilter(OutageFilter())
    monkeypatch.setattr(logging.getLogger(), "handlers", [handler])
    return handler


def wrapped(sqlstate: str) -> OperationalError:
    error = OperationalError("as psycopg has it")
    error.__cause__ = type("OfPsycopg", (Exception,), {"sqlstate": sqlstate})()
    return error


def test_an_outage_is_logged_once(log: Lines):
    for number in range(100):
        LOGGER.warning("Round %d failed: %s", number, DOWN)
        LOGGER.error("A request failed", exc_info=InterfaceError("closed"))
        logging.getLogger("psycopg.pool").warning("error connecting in %r: %s", "pool", "refused")
        failure(ExceptionGroup("tasks", [DOWN]))

    assert log.lines == ["database_unavailable: Round 0 failed: connection refused"]
    assert log.tracebacks == 0


def test_it_is_logged_again_after_a_minute_with_the_number_of_records(
    log: Lines, monkeypatch: pytest.MonkeyPatch
):
    for _ in range(1_235):
        LOGGER.warning("Failed: %s", DOWN)
    later = time.monotonic() + SECONDS
    monkeypatch.setattr(time, "monotonic", lambda: later)
    LOGGER.error("Failed again", exc_info=DOWN)

    assert log.lines == [
        "database_unavailable: Failed: connection refused",
        "database_unavailable: Failed again (1,234 more records of this outage left out)",
    ]
    assert log.tracebacks == 1


def test_the_end_of_an_outage_is_logged_once_and_the_next_one_at_once(log: Lines):
    LOGGER.warning("Back", extra={ENDED: DATABASE})
    for _ in range(2):
        LOGGER.warning("Failed: %s", DOWN)
        LOGGER.warning("Failed: %s", DOWN)
        LOGGER.warning("Back", extra={ENDED: DATABASE})
        LOGGER.warning("Back", extra={ENDED: DATABASE})

    assert (
        log.lines
        == [
            "database_unavailable: Failed: connection refused",
            "database_unavailable: Back (1 more records of this outage left out)",
        ]
        * 2
    )


def test_a_disk_and_a_database_are_two_outages(log: Lines):
    LOGGER.warning("Failed: %s", DOWN)
    LOGGER.warning("Failed: %s", OSError(errno.EROFS, "read-only"))

    assert log.lines == [
        "database_unavailable: Failed: connection refused",
        "storage_unavailable: Failed: [Errno 30] read-only",
    ]


@pytest.mark.parametrize("error", [wrapped("57014"), wrapped("40P01"), ValueError("a"), None, 5])
def test_everything_else_is_logged_each_time(error: Any, log: Lines):
    for _ in range(3):
        LOGGER.warning("Failed: %s", error)

    assert log.lines == [f"Failed: {error}"] * 3


def test_pauses_double_up_to_a_limit_and_end_with_the_outage(log: Lines):
    pauses = Pauses(0.5)
    found = [pauses.seconds]
    for error in [DOWN] * 6 + [ValueError("not the database"), None]:
        if error is DOWN:
            LOGGER.warning("Failed: %s", error)
        pauses.note(error)
        found.append(pauses.seconds)

    assert found == [
        0.5,
        1.0,
        2.0,
        4.0,
        8.0,
        LONGEST_PAUSE_SECONDS,
        LONGEST_PAUSE_SECONDS,
        0.5,
        0.5,
    ]
    assert log.lines == [
        "database_unavailable: Failed: connection refused",
        "database_unavailable: The database is available again (5 more records of this outage left out)",
    ]


class Enough(BaseException):
    """Ends a loop from within its pause."""


class Rounds:
    """The rounds of a loop: the first ones fail, and its pauses take no time."""

    def __init__(self, failing: int, most: int) -> None:
        self.failing = failing
        self.most = most
        self.count = 0
        self.pauses: list[float] = []

    async def round(self, *_: Any) -> None:
        self.count += 1
        if self.count <= self.failing:
            raise DOWN

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        if len(self.pauses) == self.most:
            raise Enough


@pytest.mark.parametrize("loop", ["clock", "outbox", "indexer"])
async def test_a_loop_waits_longer_while_the_database_is_unavailable(
    loop: str, log: Lines, monkeypatch: pytest.MonkeyPatch
):
    rounds = Rounds(failing=10, most=12)
    monkeypatch.setattr("random.uniform", lambda *_: 1.0)
    monkeypatch.setattr("asyncio.sleep", rounds.sleep)
    monkeypatch.setattr(clock, "fire_due", rounds.round)
    monkeypatch.setattr(Outbox, "tick", rounds.round)
    monkeypatch.setattr(Indexer, "look", rounds.round)
    loops = {
        "clock": lambda: clock.keep_firing(SimpleNamespace(is_closing=False)),  # type: ignore[arg-type]
        "outbox": Outbox().keep_sending,
        "indexer": Indexer().keep_indexing,
    }

    with pytest.raises(Enough):
        await loops[loop]()

    usual = rounds.pauses[-1]
    assert rounds.pauses[-3:] == [LONGEST_PAUSE_SECONDS, usual, usual]
    assert usual <= 3.0
    assert len(log.lines) == 2
    assert (
        log.lines[1]
        == "database_unavailable: The database is available again (9 more records of this outage left out)"
    )


async def test_the_sweeper_waits_longer_too(monkeypatch: pytest.MonkeyPatch, log: Lines):
    rounds = Rounds(failing=3, most=5)

    class Timeout:
        def __init__(self, seconds: float) -> None:
            self.seconds = seconds

        async def __aenter__(self) -> None:
            await rounds.sleep(self.seconds)
            raise TimeoutError

        async def __aexit__(self, *_: object) -> None:
            """Nothing was entered."""

    class Heard:
        async def __aenter__(self) -> None:
            """Nothing is heard."""

        async def __aexit__(self, *_: object) -> None:
            """Nothing was heard."""

    monkeypatch.setattr("random.uniform", lambda *_: 1.0)
    monkeypatch.setattr(sweeper, "hearing_of_waiting", lambda _: Heard())
    monkeypatch.setattr("asyncio.timeout", Timeout)
    monkeypatch.setattr(Sweeper, "sweep", rounds.round)
    hub = SimpleNamespace(is_closing=False, awaited=SimpleNamespace(clear=lambda: None))

    with pytest.raises(Enough):
        await Sweeper(hub, rounds.round, rounds.round).keep_sweeping()  # type: ignore[arg-type]

    assert rounds.pauses == [2.0, 4.0, 8.0, 1.0, 1.0]
    assert len(log.lines) == 2
