"""Outages of the database and of the disk, which pass: requests are answered with 503 meanwhile."""

import errno
from dataclasses import dataclass

from django.db import InterfaceError, OperationalError
from django.utils.translation import gettext, gettext_noop

RETRY_SECONDS = 1
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True, slots=True)
class Outage:
    code: str
    text: str

    @property
    def translated(self) -> str:
        """The text in the language of the user."""
        return gettext(self.text)


DATABASE = Outage(
    "database_unavailable",
    gettext_noop("The service cannot reach its database. Please try again in a moment."),
)
STORAGE = Outage(
    "storage_unavailable",
    gettext_noop("The service has no room to store anything. Please try again in a moment."),
)


def outage_of(error: BaseException | None) -> Outage | None:
    """Return the outage behind an error, or None if it has another reason."""
    match error:
        case OperationalError() | InterfaceError():
            return DATABASE
        case OSError(errno=number) if number in FULL:
            return STORAGE
        case _:
            return None
