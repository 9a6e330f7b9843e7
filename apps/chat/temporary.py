"""Temporary conversations: in no list and no search, remembered nowhere, and erased soon.

They go when their person has left them for a while, or a day after the last message. A connection that
breaks off is not a person who leaves: a laptop that sleeps keeps its conversation for the day.
"""

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext

from apps.chat.models import Conversation

STAY = timedelta(hours=24)
"""After the last message."""
GRACE = timedelta(minutes=10)
"""After its person has left: time for a reload, or for the way back of a browser."""
ABNORMAL = 1006
"""The code of a socket that was not closed, but broke off."""


def words() -> str:
    """What the page says of it."""
    return gettext(
        "Temporary: this conversation is in no list and no search, and nothing of it is remembered. "
        "It is deleted {minutes} minutes after you leave it, or {hours} hours after its last message. "
        "Only what it used is counted, without a word of it."
    ).format(minutes=GRACE.seconds // 60, hours=STAY // timedelta(hours=1))


def end_of(now: datetime | None = None) -> datetime:
    """When one with a message now is erased at the latest."""
    return (now or timezone.now()) + STAY


def note_seen(conversation: UUID) -> None:
    """Somebody has it before them."""
    rows = Conversation.objects.filter(pk=conversation, temporary_until__isnull=False)
    rows.update(temporary_until=F("updated_at") + STAY)


def note_left(conversation: UUID) -> None:
    """A tab has left it; another one that shows it says so soon."""
    soon = timezone.now() + GRACE
    rows = Conversation.objects.filter(pk=conversation, temporary_until__gt=soon)
    rows.update(temporary_until=soon)
