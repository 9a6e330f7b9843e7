"""Filters log records, so that an outage is logged once a minute, not with each failure."""

import logging
import threading
import time

from apps.outages import BUSY, DATABASE, ENDED, Outage, outage_of

SECONDS = 60.0
POOL = "psycopg.pool"
"""The logger of psycopg's pool. Its warnings about failed connections contain no Django exception.
"""
EXPORTERS = ("opentelemetry.exporter.", "opentelemetry.sdk.")
"""The OpenTelemetry loggers that log each failed attempt to reach an endpoint, every few seconds.
"""
EXPORT = Outage("export_unavailable", "OpenTelemetry's data cannot be sent.")
REDIS = Outage(
    "redis_unavailable", "Each process counts alone, and processes do not notify each other."
)
OF_DRIVERS = {
    ("psycopg_pool", "PoolTimeout"): BUSY,
    ("psycopg", "OperationalError"): DATABASE,
    ("redis", "ConnectionError"): REDIS,
    ("redis", "TimeoutError"): REDIS,
    ("redis", "RedisClusterException"): REDIS,
    ("redis", "ClusterError"): REDIS,
}
"""Maps driver exceptions, by package and class, to outages. This covers code that uses a driver
without Django.
"""
OF_STATEMENTS = ("40", "55", "57014")
"""The prefixes of SQLSTATEs for conflicts and timeouts. They do not mean that the database is down.
"""
MOST_CAUSES = 20


class OutageFilter(logging.Filter):
    """Accepts one record per minute and kind of outage, and one when the outage ends."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()
        # Maps each current outage to the time when it was last logged, and the number of records
        # omitted since then.
        self.current: dict[Outage, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        ended = getattr(record, ENDED, None)
        if ended is not None:
            with self.lock:
                logged = self.current.pop(ended, None)
            return logged is not None and complete(record, ended, logged[1])
        outage = logged_outage(record)
        if outage is None:
            return True
        now = time.monotonic()
        with self.lock:
            logged_at, left_out = self.current.get(outage, (now - SECONDS, 0))
            if now - logged_at < SECONDS:
                self.current[outage] = (logged_at, left_out + 1)
                return False
            self.current[outage] = (now, 0)
        return complete(record, outage, left_out)


def complete(record: logging.LogRecord, outage: Outage, left_out: int) -> bool:
    """Add the outage's code and the number of omitted records to the record's message. Return True."""
    count = f" ({left_out:,} more records of this outage omitted)" if left_out else ""
    record.msg, record.args = f"{outage.code}: {record.getMessage()}{count}", ()
    return True


def logged_outage(record: logging.LogRecord) -> Outage | None:
    """Return the outage that caused the failure in a log record, or None."""
    if record.levelno < logging.WARNING and not record.args and not record.exc_info:
        return None
    if record.name == POOL and record.levelno >= logging.WARNING:
        return DATABASE
    if record.name.startswith(EXPORTERS) and record.levelno >= logging.WARNING:
        return EXPORT
    arguments = record.args.values() if isinstance(record.args, dict) else record.args or ()
    errors = [one for one in arguments if isinstance(one, BaseException)]
    if record.exc_info and record.exc_info[1] is not None:
        errors.append(record.exc_info[1])
    return next(filter(None, map(outage_behind, errors)), None)


def outage_behind(error: BaseException | None) -> Outage | None:
    for _ in range(MOST_CAUSES):
        if error is None or is_of_statement(error):
            return None
        if outage := outage_of_driver(error) or outage_of(error):
            return outage
        if isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        else:
            error = error.__cause__
    return None


def outage_of_driver(error: BaseException) -> Outage | None:
    names = ((one.__module__.partition(".")[0], one.__name__) for one in type(error).__mro__)
    return next((OF_DRIVERS[name] for name in names if name in OF_DRIVERS), None)


def is_of_statement(error: BaseException) -> bool:
    state = getattr(error.__cause__, "sqlstate", None)
    return isinstance(state, str) and state.startswith(OF_STATEMENTS)
