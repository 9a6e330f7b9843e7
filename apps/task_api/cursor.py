"""Encodes a client's position in all of a user's conversations as the ID of a server-sent event."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.utils import timezone

from apps.errors import Refused
from apps.integers import LARGEST_EXACT

LONGEST_ABSENCE = timedelta(days=1)
"""A client that was disconnected for longer receives only events from runs that began or ended
within this time.
"""
FORM = re.compile(r"\d{1,15}-\d{1,16}(?:\.[0-9a-f]{32}-\d{1,16}){0,100}", re.ASCII)


@dataclass(slots=True)
class Cursor:
    """A client's position in all of a user's conversations."""

    since: datetime = field(default_factory=timezone.now)
    """All events from runs that ended before this time have been sent, unless `numbers` contains
    the conversation.
    """
    numbers: dict[UUID, int] = field(default_factory=dict)
    """Maps conversations to the number of the newest event that was sent."""
    message: int = 0
    """The primary key of the newest system message that was sent."""

    def __str__(self) -> str:
        numbers = (f".{stream.hex}-{number}" for stream, number in self.numbers.items())
        return f"{round(self.since.timestamp() * 1000)}-{self.message}{''.join(numbers)}"


def read_cursor(written: str) -> Cursor:
    """Parse the header `Last-Event-ID`; "" means now. Raises `Refused` if it is invalid."""
    if not written:
        return Cursor()
    if not FORM.fullmatch(written):
        raise Refused("bad_request", "Last-Event-ID: use the ID of an event.")
    begin, *places = written.split(".")
    sent, _, message = begin.partition("-")
    now = timezone.now()
    earliest, latest = (now - LONGEST_ABSENCE).timestamp(), now.timestamp()
    since = datetime.fromtimestamp(min(max(int(sent) / 1000, earliest), latest), UTC)
    pairs = (place.split("-") for place in places)
    numbers = {UUID(stream): min(int(number), LARGEST_EXACT) for stream, number in pairs}
    return Cursor(since, numbers, min(int(message), LARGEST_EXACT))
