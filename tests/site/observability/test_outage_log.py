"""An outage of the database or the disk is logged once a minute, however many operations fail."""

from __future__ import annotations

import errno
import logging
import time
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from django.db import InterfaceError, OperationalError
from redis.exceptions import RedisClusterException

from apps.live.process import sweeper
from apps.live.process.sweeper import Sweeper
from apps.outages import DATABASE, ENDED, LONGEST_PAUSE_SECONDS, Pauses
from apps.runs.failures import failure
from quickapps_site.observability.outage_log import SECONDS, OutageFilter

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


def test_an_endpoint_of_opentelemetry_that_is_down_is_logged_once_a_minute(
    log: Lines, monkeypatch: pytest.MonkeyPatch
):
    exporter = logging.getLogger("opentelemetry.exporter.otlp.proto.http._log_exporter")
    queue = logging.getLogger("opentelemetry.sdk._shared_internal")
    for delay in range(20):
        exporter.warning("Transient error %s; retrying in %ds.", "refused", delay)
        exporter.error("Failed to export logs batch")
        queue.warning("Queue full, dropping %s.", "Log")
    later = time.monotonic() + SECONDS
    monkeypatch.setattr(time, "monotonic", lambda: later)
    exporter.error("Failed to export logs batch")
    logging.getLogger("opentelemetry.trace").warning("Overriding is not allowed")

    assert log.lines == [
        "export_unavailable: Transient error refused; retrying in 0s.",
        "export_unavailable: Failed to export logs batch (59 more records of this outage omitted)",
        "Overriding is not allowed",
    ]


def test_a_redis_that_is_unavailable_is_logged_once_a_minute(log: Lines):
    broken = redis.ConnectionError("Connection closed by server.")
    for error in (broken, redis.TimeoutError(), RedisClusterException("no node answers")):
        LOGGER.warning("Redis is away: %s", error)
        logging.getLogger("channels_redis.pubsub").error("Unexpected exception", exc_info=error)
    LOGGER.warning("A command failed: %s", redis.ResponseError("wrong type"))

    assert log.lines == [
        "redis_unavailable: Redis is away: Connection closed by server.",
        "A command failed: wrong type",
    ]


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
        "database_unavailable: Failed again (1,234 more records of this outage omitted)",
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
            "database_unavailable: Back (1 more records of this outage omitted)",
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
        "database_unavailable: The database is available again (5 more records of this outage omitted)",
    ]


class Enough(BaseException):
    """Ends a loop from within its pause."""


class Rounds:
    """The rounds of a loop. The first ones fail, and its pauses take no time."""

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


async def test_the_sweeper_waits_longer_too(monkeypatch: pytest.MonkeyPatch, log: Lines):
    rounds = Rounds(failing=3, most=5)

    class Timeout:
        def __init__(self, seconds: float) -> None:
            self.seconds = seconds

        async def __aenter__(self) -> None:
            await rounds.sleep(self.seconds)
            raise TimeoutError

        async def __aexit__(self, *_: object) -> None:
            pass

    class Heard:
        async def __aenter__(self) -> None:
            pass

        async def __aexit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr("random.uniform", lambda *_: 1.0)
    monkeypatch.setattr(sweeper, "watch_waiting_runs", lambda _: Heard())
    monkeypatch.setattr("asyncio.timeout", Timeout)
    monkeypatch.setattr(Sweeper, "sweep", rounds.round)
    hub = SimpleNamespace(is_closing=False, awaited=SimpleNamespace(clear=lambda: None))

    with pytest.raises(Enough):
        await Sweeper(hub, rounds.round, rounds.round).sweep_repeatedly()  # type: ignore[arg-type]

    assert rounds.pauses == [8.0, 10.0, 10.0, 4.0, 4.0]
    assert len(log.lines) == 2
