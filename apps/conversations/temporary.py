"""Temporary conversations, which are not listed, searched or remembered, and are deleted soon.

A temporary conversation is deleted some minutes after its user leaves it, or a day after its last
message. A lost connection does not count as leaving, so closing a laptop for some hours does not
delete the conversation.
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
"""A temporary conversation is deleted this long after its user leaves it. Until then, users can
reload the page or use the browser's Back button.
"""
ABNORMAL = 1006
"""The WebSocket close code for a lost connection."""


def words() -> str:
    """Return the page's text about temporary conversations."""
    return gettext(
        "Temporary chat: it won’t appear in your history or search, and isn’t used for "
        "memory. It is deleted {minutes} minutes after you leave it, or {hours} hours "
        "after its last message. Only usage is counted; no content is stored."
    ).format(minutes=GRACE.seconds // 60, hours=STAY // timedelta(hours=1))


def erase_time(now: datetime | None = None) -> datetime:
    """Return the time at which a temporary conversation with a message from `now` is deleted."""
    return (now or timezone.now()) + STAY


def note_seen(conversation: UUID) -> None:
    """Postpone the deletion of a temporary conversation, because a user is viewing it."""
    rows = Conversation.objects.filter(pk=conversation, temporary_until__isnull=False)
    rows.update(temporary_until=F("updated_at") + STAY)


def note_left(conversation: UUID) -> None:
    """Schedule the deletion of a temporary conversation that a tab has left. If another tab still
    shows the conversation, this tab soon postpones the deletion again.
    """
    soon = timezone.now() + GRACE
    rows = Conversation.objects.filter(pk=conversation, temporary_until__gt=soon)
    rows.update(temporary_until=soon)
