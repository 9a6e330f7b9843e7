"""Deletes old stored responses.

A client that always sends the whole history creates a conversation with each request, and nobody
deletes these conversations.
"""

from django.conf import settings
from django.db.models import Exists, OuterRef

from apps.conversations.keeping.arrangement import erase
from apps.conversations.keeping.retention import inactive_conversations
from apps.live.doors import RESPONSES
from apps.live.models import Run


def erase_old() -> int:
    """Delete the conversations that have been inactive for `RESPONSE_DAYS`, and return their
    number.

    Keep pinned conversations, and conversations that were also used through the chat page or
    another API.
    """
    if not settings.RESPONSE_DAYS:
        return 0
    runs = Run.objects.filter(stream=OuterRef("pk"))
    old = inactive_conversations(settings.RESPONSE_DAYS).filter(
        Exists(runs.filter(door=RESPONSES)), ~Exists(runs.exclude(door=RESPONSES)), pinned_at=None
    )
    return erase(old)
