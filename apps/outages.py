"""Temporary outages of the database and the disk. Requests get a 503 during an outage."""

import errno
import logging
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.utils.translation import gettext, gettext_noop

logger = logging.getLogger(__name__)

RETRY_SECONDS = 1
LONGEST_PAUSE_SECONDS = 10.0
ENDED = "ended_outage"
"""The attribute of a log record that contains the outage that has ended."""
DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})
"""Error codes that the system reports if a disk is full, read-only or broken."""
DENIED = frozenset({errno.EACCES, errno.EPERM})
"""These error codes are an outage only in the folder of stored files; elsewhere, they are a bug."""


@dataclass(frozen=True, slots=True)
class Outage:
    code: str
    text: str

    @property
    def translated(self) -> str:
        """Return the text in the user's language."""
        return gettext(self.text)


DATABASE = Outage(
    "database_unavailable",
    gettext_noop("The service can’t reach its database. Try again in a moment."),
)
STORAGE = Outage(
    "storage_unavailable",
    gettext_noop("The service can’t store anything right now. Try again in a moment."),
)


def outage_of(error: BaseException | None) -> Outage | None:
    """Return the outage behind an error, or None if it has another cause."""
    match error:
        case OperationalError() | InterfaceError():
            return DATABASE
        case OSError(errno=number) if number in DISK:
            return STORAGE
        case OSError(errno=number, filename=str() as name) if number in DENIED and is_stored(name):
            return STORAGE
        case _:
            return None


def is_stored(name: str) -> bool:
    return Path(name).is_relative_to(settings.MEDIA_ROOT)


@dataclass(slots=True)
class Pauses:
    """The backoff between the rounds of a loop, which doubles while the database is unavailable."""

    usual: float
    failures: int = 0

    @property
    def seconds(self) -> float:
        longest = max(self.usual, LONGEST_PAUSE_SECONDS)
        return float(min(longest, self.usual * 2 ** min(self.failures, 10)))

    def note(self, error: BaseException | None) -> None:
        """Record how a round ended: with an error, or None for success."""
        if outage_of(error) is DATABASE:
            self.failures += 1
        elif self.failures:
            self.failures = 0
            logger.warning("The database is available again", extra={ENDED: DATABASE})
