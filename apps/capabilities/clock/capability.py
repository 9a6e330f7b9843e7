"""Adds the current time, and the time of each tool result, to the messages for the model."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext_lazy

from apps.agent.injection import Injection, inject
from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Capability, Contribution, HistoryStep, Open, Opening
from apps.capabilities.wrappers.internal import (
    PlatformTool,
    internal_tool,
    open_with,
    parameters,
    plain_result,
    text_parameter,
)
from apps.datetimes import read_datetime, zone_names
from apps.errors import InvalidParameter
from apps.manifest.manifest import Manifest
from apps.manifest.parts import parts_in_use

TOOL_NAME = "internal_timeawareness_current_timestamp"
DESCRIPTION = "Returns the current date and time, in UTC or in a time zone."
PARAMETERS = parameters(
    {
        "timezone": text_parameter(
            "IANA name of a time zone, such as Europe/Paris. The default is UTC."
        )
    }
)
SERVES = frozenset({"features.timestamp", f"tool_sets.internal.{TOOL_NAME}"})
METADATA = "_message_metadata"
USER_ZONE = "_user_timezone"


def current_timestamp(timezone: str | None = None) -> str:
    """Return the current time in ISO 8601, followed by the time zone and the source of the zone:
    the default or the argument.

    Raises `InvalidParameter` for an unknown zone.
    """
    if timezone is None or not timezone.strip():
        return stamp(datetime.now(UTC), "UTC", "default")
    name = find_zone(timezone)
    return stamp(datetime.now(ZoneInfo(name)), name, "argument")


def stamp(moment: datetime, zone: str, source: str) -> str:
    return f"{moment.isoformat(timespec='seconds')} ({zone}, source={source})"


def find_zone(text: str) -> str:
    """Return the correct spelling of a zone's name. Raises `InvalidParameter` for an unknown zone,
    and suggests similar names.
    """
    wanted = text.strip().replace(" ", "_").casefold()
    zones = zones_by_folded_name()
    if wanted in zones:
        return zones[wanted]
    near = [zones[name] for name in near_names(wanted, zones)]
    advice = f"Did you mean {' or '.join(near)}?" if near else "Examples: Europe/Paris, Asia/Tokyo."
    raise InvalidParameter("timezone", f"{text.strip()[:60]!r} is not an IANA time zone. {advice}")


def near_names(wanted: str, zones: Mapping[str, str]) -> list[str]:
    """Return up to three zones: zones whose city is `wanted`, then zones with a similar name."""
    cities = [name for name in zones if name.rpartition("/")[2] == wanted]
    return [*cities, *get_close_matches(wanted[:60], zones, n=3, cutoff=0.75)][:3]


@cache
def zones_by_folded_name() -> Mapping[str, str]:
    # Only these names reach the time zone files. A name from the model is never used as a path.
    return {name.casefold(): name for name in sorted({*zone_names(), "UTC"})}


def time_step(tool: str, zone: str) -> HistoryStep:
    """Return a history step that appends the current time. `zone` is "" if the user's zone is
    unknown.
    """

    async def append_time(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
        now = datetime.now(ZoneInfo(zone) if zone else UTC)
        text = stamp(now, zone or "UTC", "user_timezone" if zone else "default")
        state = {USER_ZONE: zone} if zone else {}
        return inject(messages, Injection(tool, {}, text, "always", state=state))

    return append_time


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


async def annotate(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
    return [add_time(message) for message in messages]


def add_time(message: ModelMessage) -> ModelMessage:
    moment = moment_of(message.state) if message.role == "tool" else None
    if moment is None or not isinstance(message.content, str):
        return message
    line = f"[Timestamp: {moment:%Y-%m-%d %H:%M:%S} UTC]"
    return replace(message, content=f"{message.content}\n{line}" if message.content else line)


def moment_of(state: Mapping[str, Any]) -> datetime | None:
    if METADATA not in state:
        return None
    # The state comes from the client and is untrusted.
    metadata = state[METADATA]
    stamped = metadata.get("timestamp") if isinstance(metadata, Mapping) else None
    if not isinstance(stamped, Mapping) or stamped.get("skip_time_annotation"):
        return None
    try:
        return read_datetime(str(stamped.get("response_timestamp")))
    except ValueError:
        return None


def prepare(manifest: Manifest) -> Open | None:
    if not any(part.name in SERVES for part in parts_in_use(manifest)):
        return None
    declared = PlatformTool(
        TOOL_NAME, DESCRIPTION, PARAMETERS, gettext_lazy("Current time"), "read-only"
    )
    tool = internal_tool(manifest, declared, tell_time)
    if manifest.features is None or manifest.features.timestamp is None:
        return open_with(tool)

    def open_clock(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        return nullcontext(
            Contribution(
                (tool.bind(opening),),
                history=(time_step(TOOL_NAME, opening.caller.client.timezone),),
                view=(annotate,),
                results=(stamp_result,),
            )
        )

    return open_clock


async def tell_time(opening: Opening, invocation: Invocation) -> ToolResult:
    return plain_result(invocation, current_timestamp(invocation.arguments.get("timezone")))


clock = Capability("clock", SERVES, prepare)
