"""Deletes old stored responses.

A client that always sends the whole history creates a new conversation with each request, and no
user ever deletes these conversations.
"""

from django.conf import settings
from django.db.models import Exists, OuterRef

from apps.conversations.keeping.arrangement import erase
from apps.conversations.keeping.retention import inactive_conversations
from apps.live.doors import RESPONSES
from apps.live.models import Run


def erase_old() -> int:
    """Delete conversations after `RESPONSE_DAYS` of inactivity. Return the number of deleted
    conversations.

    Pinned conversations and conversations that contain a run from another door remain.
    """
    if not settings.RESPONSE_DAYS:
        return 0
    runs = Run.objects.filter(stream=OuterRef("pk"))
    old = inactive_conversations(settings.RESPONSE_DAYS).filter(
        Exists(runs.filter(door=RESPONSES)), ~Exists(runs.exclude(door=RESPONSES)), pinned_at=None
    )
    return erase(old)
