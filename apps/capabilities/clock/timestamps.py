"""The time now, in any zone, as the model is told it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from apps.errors import InvalidParameter


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
    """Only these names reach the time zone files: a name of the model's is never a path."""
    return {name.casefold(): name for name in sorted({*available_timezones(), "UTC"})}
