"""Names of tools and of values, written as a person would."""

from __future__ import annotations

import re

UNITS = {
    "celsius": "°C",
    "fahrenheit": "°F",
    "percent": "%",
    "km_h": "km/h",
    "kmh": "km/h",
    "m_s": "m/s",
    "mph": "mph",
    "hpa": "hPa",
    "km": "km",
    "cm": "cm",
    "mm": "mm",
    "kg": "kg",
}
"""What the end of a value's name says that the value is counted in."""

_origin = re.compile(r"internal_[^_]+_(?=.)")
_between_words = re.compile(r"[\s_.-]+|(?<=[a-z\d])(?=[A-Z])")
_unit = re.compile(rf"(?P<thing>.+?)_(?P<unit>{'|'.join(UNITS)})", re.IGNORECASE)


def tool_title(name: str) -> str:
    """`Weather_now` is "Weather now"; a tool of our own does not name where it comes from."""
    return sentence(_origin.sub("", name, count=1) if _origin.match(name) else name)


def label(name: str) -> str:
    """`wind_km_h` is "Wind (km/h)"."""
    if match := _unit.fullmatch(name):
        return f"{sentence(match['thing'])} ({UNITS[match['unit'].lower()]})"
    return sentence(name)


def sentence(name: str) -> str:
    text = words(name)
    return f"{text[:1].upper()}{text[1:]}"


def words(name: str) -> str:
    """The words of an identifier in lower case; abbreviations stay as they are."""
    parts = [part for part in _between_words.split(name) if part]
    plain = [part if part.isupper() and len(part) > 1 else part.lower() for part in parts]
    return " ".join(plain) or name
