"""Time stamps: as the model asks for one, with each question, and on the result of each tool.

The stamp of a result is in its state, so that it comes back with the history; the line that shows
it to the model is added to the view alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

from apps.agent.injection import Injection, inject
from apps.agent.messages import Message, ToolCall
from apps.agent.tools import ToolResult
from apps.capabilities.registry import HistoryStep
from apps.datetimes import read_datetime, zone_names
from apps.errors import InvalidParameter

METADATA = "_message_metadata"
USER_ZONE = "_user_timezone"


def current_timestamp(timezone: str | None = None) -> str:
    """ISO 8601 to the second, then the zone and where it came from.

    Raises `InvalidParameter` for a zone that does not exist.
    """
    if timezone is None or not timezone.strip():
        return stamp(datetime.now(UTC), "UTC", "default")
    name = find_zone(timezone)
    return stamp(datetime.now(ZoneInfo(name)), name, "argument")


def stamp(moment: datetime, zone: str, source: str) -> str:
    return f"{moment.isoformat(timespec='seconds')} ({zone}, source={source})"


def find_zone(text: str) -> str:
    """The proper spelling of a zone's name. Raises `InvalidParameter` with near matches."""
    wanted = text.strip().replace(" ", "_").casefold()
    zones = zones_by_folded_name()
    if wanted in zones:
        return zones[wanted]
    near = [zones[name] for name in near_names(wanted, zones)]
    advice = f"Did you mean {' or '.join(near)}?" if near else "Examples: Europe/Paris, Asia/Tokyo."
    raise InvalidParameter(
        "timezone", f"{text.strip()[:60]!r} is not the name of an IANA time zone. {advice}"
    )


def near_names(wanted: str, zones: Mapping[str, str]) -> list[str]:
    """Zones that are spelt alike, or whose city is the whole of what was asked for."""
    cities = [name for name in zones if name.rpartition("/")[2] == wanted]
    return [*cities, *get_close_matches(wanted[:60], zones, n=3, cutoff=0.75)][:3]


@cache
def zones_by_folded_name() -> Mapping[str, str]:
    # Only these names reach the time zone files: a name of the model's is never used as a path.
    return {name.casefold(): name for name in sorted({*zone_names(), "UTC"})}


def time_step(tool: str, zone: str) -> HistoryStep:
    """Appends the time to the conversation; `zone` is the user's, "" if unknown."""

    async def tell(messages: Sequence[Message]) -> Sequence[Message]:
        now = datetime.now(ZoneInfo(zone) if zone else UTC)
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
    # The state comes from the client, which may have written anything into it.
    metadata = state.get(METADATA)
    stamped = metadata.get("timestamp") if isinstance(metadata, Mapping) else None
    if not isinstance(stamped, Mapping) or stamped.get("skip_time_annotation"):
        return None
    try:
        return read_datetime(str(stamped.get("response_timestamp")))
    except ValueError:
        return None
