"""When things were said: each question comes with the time, each tool result keeps its own.

The stamp of a result is in its state, so it comes back with the history; the line that tells
the model of it is in its view alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from apps.agent.injection import Injection, inject
from apps.agent.messages import Message, ToolCall
from apps.agent.tools import ToolResult
from apps.capabilities.clock.timestamps import stamp
from apps.capabilities.registry import HistoryStep

METADATA = "_message_metadata"
USER_ZONE = "_user_timezone"


def telling_time(tool: str, zone: str) -> HistoryStep:
    """A step that ends the conversation with the time; `zone` is the user's, "" if unknown."""

    async def tell(messages: Sequence[Message]) -> Sequence[Message]:
        now = datetime.now(ZoneInfo(zone or "UTC"))
        text = stamp(now, zone or "UTC", "user_timezone" if zone else "default")
        state = {USER_ZONE: zone} if zone else {}
        return inject(messages, Injection(tool, {}, text, "always", state=state))

    return tell


async def stamp_result(call: ToolCall, result: ToolResult) -> ToolResult:
    metadata = {
        "timestamp": {
            "response_timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "timestamp_source": "server",
            "timezone_name": "UTC",
            "skip_time_annotation": False,
        },
        "content_type": result.content_type,
    }
    return replace(result, state={**result.state, METADATA: metadata})


async def annotate(messages: Sequence[Message]) -> Sequence[Message]:
    return [annotated(message) for message in messages]


def annotated(message: Message) -> Message:
    moment = moment_of(message.state) if message.role == "tool" else None
    if moment is None or not isinstance(message.content, str):
        return message
    line = f"[Timestamp: {moment:%Y-%m-%d %H:%M:%S} UTC]"
    return replace(message, content=f"{message.content}\n{line}" if message.content else line)


def moment_of(state: Mapping[str, Any]) -> datetime | None:
    """When a result was made, if its state says so. Whoever sent the state may have written it."""
    metadata = state.get(METADATA)
    stamped = metadata.get("timestamp") if isinstance(metadata, Mapping) else None
    if not isinstance(stamped, Mapping) or stamped.get("skip_time_annotation"):
        return None
    try:
        moment = datetime.fromisoformat(str(stamped.get("response_timestamp")))
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment
