"""Finds expired tool results. The model no longer reads them, and the page shows them faded."""

from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async

from apps.agent.context.durations import FOR_EVER, Durations
from apps.catalog.resolve import resolve_application
from apps.conversations.branches import path
from apps.conversations.models import Conversation, Message
from apps.conversations.spoken import spoken_text
from apps.errors import QuickAppError
from apps.runs.history import expand_one


async def results_expired(conversation: UUID, application: str) -> dict[str, Any] | None:
    """Return the frame that lists the conversation's expired tool results, or None if there are
    none. `application` is a slug.
    """
    try:
        manifest = (await resolve_application(application)).manifest
    except QuickAppError:  # No more questions are sent to this application.
        return None
    durations = Durations(manifest.orchestrator.context.durations)
    if durations == FOR_EVER:
        return None
    expired = await database_sync_to_async(expired_calls)(conversation, durations)
    told = {"type": "results.expired", "conversation": str(conversation), "answers": expired}
    return told if expired else None


def expired_calls(conversation: UUID, durations: Durations) -> dict[str, list[str]]:
    """Return the IDs of the tool calls whose results have expired, grouped by run ID."""
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
    calls = (call for message in expand_one(spoken_text(row)) for call in message.tool_calls)
    return [call.id for call in calls if durations.is_over(call, age)]
