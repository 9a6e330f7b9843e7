"""Manages the lifetime of temporary conversations, which are not listed, searched or remembered.

They are deleted `GRACE` after the user leaves them, or `STAY` after the last message. A lost
connection does not count as leaving, so that users do not lose the conversation when they close a
laptop.
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
"""A temporary conversation is deleted this long after its user has left it, so that the user can
reload the page or go back.
"""
ABNORMAL = 1006
"""The WebSocket close code of a lost connection."""


def words() -> str:
    """Return the page's text about temporary conversations."""
    return gettext(
        "Temporary chat: it won’t appear in your history or search, and isn’t used for "
        "memory. It is deleted {minutes} minutes after you leave it, or {hours} hours "
        "after its last message. Only usage is counted; no content is stored."
    ).format(minutes=GRACE.seconds // 60, hours=STAY // timedelta(hours=1))


def erase_time(now: datetime | None = None) -> datetime:
    """Return the time at which a temporary conversation is deleted if its last message was sent at
    `now`.
    """
    return (now or timezone.now()) + STAY


def note_seen(conversation: UUID) -> None:
    """Postpone the deletion of a temporary conversation that a user is viewing."""
    rows = Conversation.objects.filter(pk=conversation, temporary_until__isnull=False)
    rows.update(temporary_until=F("updated_at") + STAY)


def note_left(conversation: UUID) -> None:
    """Set the deletion time of a temporary conversation to `GRACE` from now, because a tab no
    longer shows it. If another tab still shows the conversation, that tab soon postpones the
    deletion again.
    """
    soon = timezone.now() + GRACE
    rows = Conversation.objects.filter(pk=conversation, temporary_until__gt=soon)
    rows.update(temporary_until=soon)
