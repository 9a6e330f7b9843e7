"""Recognizes errors caused by a temporary outage of the database or the disk. Requests then get
status 503.
"""

import errno
import logging
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.utils.translation import gettext, gettext_noop

logger = logging.getLogger(__name__)

RETRY_SECONDS = 1
LONGEST_PAUSE_SECONDS = 10.0
ENDED = "ended_outage"
"""The attribute of log records that report the end of an outage. Its value is the outage."""
DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})
"""The operating system's error codes for a full, read-only or broken disk."""
POSTGRESQL_DISK_FULL = "53100"
POSTGRESQL_BUSY = ("40", "53300", "55P03", "57014")
"""The SQLSTATE prefixes for a database that responds but has ended a statement: transaction
conflicts, too many connections, and lock or statement timeouts.
"""
SQLITE_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
BUSY_POOL = frozenset({"PoolTimeout", "TooManyRequests"})
"""The class names of errors that psycopg's pool raises if all of its connections are in use."""
DENIED = frozenset({errno.EACCES, errno.EPERM})
"""The operating system's error codes for denied access. In the folder of stored files, such an
error counts as an outage. Elsewhere, it is a bug.
"""


@dataclass(frozen=True, slots=True)
class Outage:
    code: str
    text: str

    @property
    def translated(self) -> str:
        """Return the message about the outage in the user's language."""
        return gettext(self.text)


DATABASE = Outage(
    "database_unavailable",
    gettext_noop("The service can’t reach its database. Try again in a moment."),
)
BUSY = Outage(
    "database_busy",
    gettext_noop("The service’s database is busy. Try again in a moment."),
)
STORAGE = Outage(
    "storage_unavailable",
    gettext_noop("The service can’t store anything right now. Try again in a moment."),
)


def outage_of(error: BaseException | None) -> Outage | None:
    """Return the outage that caused an error, or None if it has another cause."""
    match error:
        case OperationalError() if is_disk_full(error):
            return STORAGE
        case OperationalError() if is_busy(error):
            return BUSY
        case OperationalError() | InterfaceError():
            return DATABASE
        case OSError(errno=number) if number in DISK:
            return STORAGE
        case OSError(errno=number, filename=str() as name) if number in DENIED and is_stored(name):
            return STORAGE
        case _:
            return None


def is_disk_full(error: OperationalError) -> bool:
    """Return True if the database cannot write because its disk is full."""
    cause = error.__cause__
    sqlite, postgresql = getattr(cause, "sqlite_errorcode", 0), getattr(cause, "sqlstate", "")
    return bool(sqlite == sqlite3.SQLITE_FULL or postgresql == POSTGRESQL_DISK_FULL)


def is_busy(error: OperationalError) -> bool:
    """Return True if the database responds, but did not complete a statement in time."""
    cause = error.__cause__
    sqlite, postgresql = getattr(cause, "sqlite_errorcode", 0), getattr(cause, "sqlstate", "")
    # The low byte of an extended SQLite error code is the primary code.
    is_sqlite = isinstance(sqlite, int) and sqlite & 0xFF in SQLITE_BUSY
    is_postgresql = isinstance(postgresql, str) and postgresql.startswith(POSTGRESQL_BUSY)
    return is_sqlite or is_postgresql or type(cause).__name__ in BUSY_POOL


def is_stored(name: str) -> bool:
    return Path(name).is_relative_to(settings.MEDIA_ROOT)


@dataclass(slots=True)
class Pauses:
    """The pauses between the iterations of a background loop. They start at `usual` seconds, and
    double with each consecutive outage.
    """

    usual: float
    failures: int = 0

    @property
    def seconds(self) -> float:
        longest = max(self.usual, LONGEST_PAUSE_SECONDS)
        return float(min(longest, self.usual * 2 ** min(self.failures, 10)))

    def note(self, error: BaseException | None) -> None:
        """Record the outcome of an iteration: its error, or None on success."""
        if outage_of(error) is not None:
            self.failures += 1
        elif self.failures:
            self.failures = 0
            logger.warning("The database is available again", extra={ENDED: DATABASE})
