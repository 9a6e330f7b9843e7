"""A filter that logs an outage once a minute, in place of each failure that it causes."""

import logging
import threading
import time

from apps.outages import DATABASE, ENDED, Outage, outage_of

SECONDS = 60.0
POOL = "psycopg.pool"
"""Logs its failed connections as warnings, with errors that are not Django's."""
OF_STATEMENTS = ("40", "55", "57014")
"""SQLSTATEs of conflicts and time limits: the database is available."""
MOST_CAUSES = 20


class OutageFilter(logging.Filter):
    """Passes one record for each kind of outage and minute, and one about its end."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()
        # Of each current outage: when it was logged, and the records that were left out since.
        self.begun: dict[Outage, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        ended = getattr(record, ENDED, None)
        if ended is not None:
            with self.lock:
                logged = self.begun.pop(ended, None)
            return logged is not None and complete(record, ended, logged[1])
        outage = logged_outage(record)
        if outage is None:
            return True
        now = time.monotonic()
        with self.lock:
            logged_at, left_out = self.begun.get(outage, (now - SECONDS, 0))
            if now - logged_at < SECONDS:
                self.begun[outage] = (logged_at, left_out + 1)
                return False
            self.begun[outage] = (now, 0)
        return complete(record, outage, left_out)


def complete(record: logging.LogRecord, outage: Outage, left_out: int) -> bool:
    """Add the code of the outage and the number of records that were left out; the record passes."""
    count = f" ({left_out:,} more records of this outage left out)" if left_out else ""
    record.msg, record.args = f"{outage.code}: {record.getMessage()}{count}", ()
    return True


def logged_outage(record: logging.LogRecord) -> Outage | None:
    """Return the outage that a record is about."""
    if record.name == POOL and record.levelno >= logging.WARNING:
        return DATABASE
    arguments = record.args.values() if isinstance(record.args, dict) else record.args or ()
    errors = [one for one in arguments if isinstance(one, BaseException)]
    if record.exc_info and record.exc_info[1] is not None:
        errors.append(record.exc_info[1])
    return next(filter(None, map(outage_behind, errors)), None)


def outage_behind(error: BaseException | None) -> Outage | None:
    for _ in range(MOST_CAUSES):
        if error is None or is_of_statement(error):
            return None
        if outage := outage_of(error):
            return outage
        if isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        else:
            error = error.__cause__
    return None


def is_of_statement(error: BaseException) -> bool:
    state = getattr(error.__cause__, "sqlstate", None)
    return isinstance(state, str) and state.startswith(OF_STATEMENTS)
