"""The place of a reader in all conversations of one person: the id of a server-sent event."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.utils import timezone

from apps.chat.frames import LARGEST_NUMBER
from apps.errors import Refused

LONGEST_ABSENCE = timedelta(days=1)
"""A reader that was away for longer is sent what began or ended in this time."""
FORM = re.compile(r"\d{1,15}-\d{1,16}(?:\.[0-9a-f]{32}-\d{1,16}){0,100}", re.ASCII)


@dataclass(slots=True)
class Cursor:
    """`numbers` has the number of the newest event that was sent of a stream.

    Of a stream without a number, everything of runs that ended before `since` was sent. `message`
    is the primary key of the newest system message that was sent.
    """

    since: datetime = field(default_factory=timezone.now)
    numbers: dict[UUID, int] = field(default_factory=dict)
    message: int = 0

    def __str__(self) -> str:
        numbers = (f".{stream.hex}-{number}" for stream, number in self.numbers.items())
        return f"{round(self.since.timestamp() * 1000)}-{self.message}{''.join(numbers)}"


def read_cursor(written: str) -> Cursor:
    """Of the header `Last-Event-ID`; one of now if it is empty. Raises `Refused`."""
    if not written:
        return Cursor()
    if not FORM.fullmatch(written):
        raise Refused("bad_request", "Last-Event-ID: write the id of an event.")
    begin, *places = written.split(".")
    sent, _, message = begin.partition("-")
    now = timezone.now()
    earliest, latest = (now - LONGEST_ABSENCE).timestamp(), now.timestamp()
    since = datetime.fromtimestamp(min(max(int(sent) / 1000, earliest), latest), UTC)
    pairs = (place.split("-") for place in places)
    numbers = {UUID(stream): min(int(number), LARGEST_NUMBER) for stream, number in pairs}
    return Cursor(since, numbers, min(int(message), LARGEST_NUMBER))
