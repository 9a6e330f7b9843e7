"""Temporary conversations, which are not listed, searched or remembered, and are erased soon.

They are deleted some time after their user leaves them, or a day after the last message. A lost
connection does not count as leaving, so a sleeping laptop does not lose its conversation on the
same day.
"""

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext

from apps.conversations.models import Conversation

STAY = timedelta(hours=24)
"""A temporary conversation is deleted this long after its last message."""
GRACE = timedelta(minutes=10)
"""A temporary conversation is deleted this long after its user leaves it. The time is enough for a
reload or the browser's Back button.
"""
ABNORMAL = 1006
"""The close code of a socket whose connection was lost."""


def words() -> str:
    """Return the page's text about temporary conversations."""
    return gettext(
        "Temporary chat: it won’t appear in your history or search, and isn’t used for "
        "memory. It is deleted {minutes} minutes after you leave it, or {hours} hours "
        "after its last message. Only usage is counted; no content is stored."
    ).format(minutes=GRACE.seconds // 60, hours=STAY // timedelta(hours=1))


def erase_time(now: datetime | None = None) -> datetime:
    """Return the latest time at which a conversation with a message now is erased."""
    return (now or timezone.now()) + STAY


def note_seen(conversation: UUID) -> None:
    """Record that a user is viewing the conversation."""
    rows = Conversation.objects.filter(pk=conversation, temporary_until__isnull=False)
    rows.update(temporary_until=F("updated_at") + STAY)


def note_left(conversation: UUID) -> None:
    """Record that a tab has left the conversation. Any other tab that shows it reports this
    soon.
    """
    soon = timezone.now() + GRACE
    rows = Conversation.objects.filter(pk=conversation, temporary_until__gt=soon)
    rows.update(temporary_until=soon)
