"""The results of tools that the next request to the model has no more; the page shows them faded."""

from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async

from apps.agent.durations import FOR_EVER, Durations
from apps.catalog.resolve import resolve
from apps.chat.branches import path
from apps.chat.models import Conversation, Message
from apps.chat.spoken import spoken
from apps.errors import QuickAppError
from apps.runs.history import expand_one
from apps.runs.result_durations import result_durations


async def results_expired(conversation: UUID, application: str) -> dict[str, Any] | None:
    """The frame for a page that shows the conversation; None if every result is read."""
    try:
        manifest = (await resolve(application)).manifest
    except QuickAppError:  # nothing more is asked there
        return None
    durations = result_durations(manifest.orchestrator.context)
    if durations == FOR_EVER:
        return None
    expired = await database_sync_to_async(expired_calls)(conversation, durations)
    told = {"type": "results.expired", "conversation": str(conversation), "answers": expired}
    return told if expired else None


def expired_calls(conversation: UUID, durations: Durations) -> dict[str, list[str]]:
    """By the ids of runs, the ids of the calls whose results a next question leaves out."""
    found: dict[str, list[str]] = {}
    age = 1
    shown = Conversation.objects.filter(pk=conversation).first()
    for row in reversed(path(shown) if shown is not None else []):
        if row.role == Message.Role.USER:
            age += 1
        elif gone := gone_of(row, durations, age):
            found[str(row.run_id)] = gone
    return found


def gone_of(row: Message, durations: Durations, age: int) -> list[str]:
    if row.run_id is None:
        return []
    calls = (call for message in expand_one(spoken(row)) for call in message.tool_calls)
    return [call.id for call in calls if durations.is_over(call, age)]
