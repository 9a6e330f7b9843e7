"""Temporary conversations, which are not listed, searched or remembered, and are erased soon.

A temporary conversation is deleted some time after its user leaves it, or a day after its last
message. A lost connection does not count as leaving, so the conversation remains on a laptop that
sleeps for some hours.
"""

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext

from apps.conversations.models import Conversation

STAY = timedelta(hours=24)
"""The time after its last message at which a temporary conversation is deleted."""
GRACE = timedelta(minutes=10)
"""The time after which a temporary conversation that its user left is deleted. Until then, users
can reload the page or use the browser's Back button.
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
    """Return the time until which a temporary conversation with a new message exists at most."""
    return (now or timezone.now()) + STAY


def note_seen(conversation: UUID) -> None:
    """Record that a user is viewing the conversation."""
    rows = Conversation.objects.filter(pk=conversation, temporary_until__isnull=False)
    rows.update(temporary_until=F("updated_at") + STAY)


def note_left(conversation: UUID) -> None:
    """Record that a tab has left the conversation. If another tab shows it, that tab soon records
    this.
    """
    soon = timezone.now() + GRACE
    rows = Conversation.objects.filter(pk=conversation, temporary_until__gt=soon)
    rows.update(temporary_until=soon)
