"""When a hook was last called, so that what is still fresh is not asked for again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from apps.agent.messages import Message

CALLS = "hook_calls"
"""Key of the state: the beginning of a hook's call ids → when its tool was called, ISO 8601."""


def is_fresh(
    state: Mapping[str, Any], prefix: str, minutes: int, messages: Sequence[Message] | None
) -> bool:
    """Whether the tool was called so recently. Whoever sent the state may have written it.

    With `messages`, what it said has to stand among them.
    """
    moment = moment_of(state, prefix)
    if moment is None:
        return False
    age = datetime.now(UTC) - moment
    if not timedelta(0) <= age < timedelta(minutes=minutes):
        return False
    return messages is None or any(
        call.id.startswith(prefix) for message in messages for call in message.tool_calls
    )


def moment_of(state: Mapping[str, Any], prefix: str) -> datetime | None:
    calls = state.get(CALLS)
    try:
        moment = datetime.fromisoformat(calls[prefix] if isinstance(calls, Mapping) else "")
    except (KeyError, TypeError, ValueError):
        return None
    return moment if moment.tzinfo else None


def keep(saved: dict[str, Any], prefix: str, moment: datetime) -> None:
    """Let the next request know."""
    calls = saved.setdefault(CALLS, {})
    calls[prefix] = moment.isoformat(timespec="seconds")
