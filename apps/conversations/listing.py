"""Lists conversations for API clients, and watches a notification stream for changes."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.conf import settings

from apps.accounts.caller import Caller
from apps.conversations.models import Conversation
from apps.live.hub import Hub
from apps.live.journal.notifications import listening
from apps.live.models import Run

LISTED_CONVERSATIONS = 200


async def watch_stream(
    hub: Hub, stream: UUID, on_change: Callable[[asyncio.Event], Awaitable[None]]
) -> None:
    """Call `on_change` after each notification for the stream, and at regular intervals, until the
    hub is closing. If `on_change` sets the event that it receives, it is called again immediately.
    """
    with hub.streams.watch(stream) as changed:
        async with listening(hub.streams, stream):
            while not hub.is_closed:
                changed.clear()
                await on_change(changed)
                with suppress(TimeoutError):
                    async with asyncio.timeout(settings.HEARTBEAT_SECONDS):
                        await changed.wait()


def list_entries(caller: Caller, conversations: Iterable[Conversation]) -> list[dict[str, Any]]:
    """Return the conversations as JSON. `state` is running, waiting, unread or done."""
    going = Run.objects.filter(bucket=caller.bucket, status__in=Run.OPEN)
    states = {
        stream: "waiting" if status == Run.Status.WAITING else "running"
        for stream, status in going.values_list("stream", "status")
    }
    return [
        {
            "id": str(row.pk),
            "title": row.title,
            "updated_at": row.updated_at.isoformat(),
            "state": states.get(row.pk) or ("unread" if row.is_unread else "done"),
        }
        for row in conversations
    ]
