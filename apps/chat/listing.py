"""The list of a person's conversations with an application, and news of it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.conf import settings

from apps.accounts.caller import Caller
from apps.chat.models import Conversation
from apps.live.hub import Hub
from apps.live.models import Run
from apps.live.notifications import listening

LISTED_CONVERSATIONS = 200


async def keep_looking(
    hub: Hub, stream: UUID, look: Callable[[asyncio.Event], Awaitable[None]]
) -> None:
    """Look whenever there is news, and now and then without; `look` may set the event."""
    with hub.watch(stream) as news:
        async with listening(hub, stream):
            while not hub.is_closed:
                news.clear()
                await look(news)
                with suppress(TimeoutError):
                    async with asyncio.timeout(settings.HEARTBEAT_SECONDS):
                        await news.wait()


def entries(caller: Caller, conversations: Iterable[Conversation]) -> list[dict[str, Any]]:
    """The rows of the list; `state` is running, waiting, unread or done."""
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
