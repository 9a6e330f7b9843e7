"""When a hook was last called, kept in the state, so that a fresh result is not asked for again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from apps.agent.messages import Message

CALLS = "hook_calls"
"""Key of the state: prefix of a hook's call ids → when its tool was called, ISO 8601."""


def fresh_call(
    state: Mapping[str, Any], prefix: str, minutes: int, messages: Sequence[Message] | None
) -> datetime | None:
    """When the tool was last called, None if longer ago than `minutes` or never.

    With `messages`, its result has to be among them.
    """
    calls = state.get(CALLS)
    try:
        # The state comes from the client, which may have written anything into it.
        moment = datetime.fromisoformat(calls[prefix] if isinstance(calls, Mapping) else "")
    except (KeyError, TypeError, ValueError):
        return None
    if moment.tzinfo is None:
        return None
    if not timedelta(0) <= datetime.now(UTC) - moment < timedelta(minutes=minutes):
        return None
    ids = (call.id for message in messages or () for call in message.tool_calls)
    is_said = messages is None or any(call_id.startswith(prefix) for call_id in ids)
    return moment if is_said else None


def keep(saved: dict[str, Any], prefix: str, moment: datetime) -> None:
    calls = saved.setdefault(CALLS, {})
    calls[prefix] = moment.isoformat(timespec="seconds")
