"""Formats tool results as Markdown for the demo model's answers."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.tool_titles import in_words, tool_title

MOST_CHARACTERS = 3_000
"""The maximum number of characters of a tool's result in an answer. The call's step shows the whole
result.
"""
MOST_LINES = 40
LONGEST_VALUE = 200
UNITS = {"_celsius": "°C", "_percent": "%", "_km_h": "km/h"}
"""Maps field name suffixes to units."""
IN_WORDS = {"null": "none", "[]": "none", "true": "yes", "false": "no"}
HIDDEN_ARGUMENTS = {
    "store_memory": {"category", "importance"},
    "spawn-agent": {"agentDefinitionId"},
}
"""Arguments that mean nothing to the reader of an answer. The call's step shows them."""
READ_SKILL = "internal_skills_read_skill"

_failure = re.compile(
    r"\s*(?:Error\b|Parameter \S+ is invalid|The tool (?:call `|failed)"
    r"|.{0,200}?\b(?:status(?: code)?:?|answered(?: with)?) [45]\d\d\b)",
    re.IGNORECASE | re.DOTALL,
)
# Lines for the model: the time of a result, and its attachments.
_time = re.compile(r"\n?\[Timestamp: [^\]\n]*\]\Z")
_attached = re.compile(r"\n<attachments>\n.*</attachments>(?:\n\[[^\n]*\])*\Z", re.DOTALL)
_moment = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d) \((\S+), source=\w+\)")
# The facts after a memory.
_memory_facts = re.compile(r'(?<=") \(id \d+; category "[^\n]*\)$', re.MULTILINE)


def render(call: ToolCall, result: ModelMessage | None) -> str:
    """Return Markdown that describes a call and its result."""
    arguments = decode_json(call.arguments)
    given = arguments if isinstance(arguments, dict) else {}
    hidden = HIDDEN_ARGUMENTS.get(call.name, set())
    given = {name: value for name, value in given.items() if value != "" and name not in hidden}
    words = one_line(given if len(given) > 1 else next(iter(given.values()), ""))
    title = f"**{tool_title(call.name)}**{f' ({words})' if words else ''}"
    if result is None:
        return f"{title} brought no result."
    text, _ = without_attachments(_time.sub("", result.text))
    value = decode_json(text)
    if is_failure(call.name, text, value):
        return f"{title} failed:\n\n{with_margin(text, '> ')}"
    if not text.strip():
        return f"{title} returned nothing."
    if call.name == READ_SKILL:
        # The text is indented like code, because Markdown would show the first lines of a skill as
        # a heading.
        return f"{title}\n\n{with_margin(text, '    ')}"
    return (
        f"{title}\n\n{with_margin(plain_words(text), '> ') if value is None else markdown(value)}"
    )


def plain_words(text: str) -> str:
    """Return a result without what only a model needs: the IDs and scores of memories, and the
    source of a time zone.
    """
    return _memory_facts.sub("", _moment.sub(shown_moment, text))


def shown_moment(found: re.Match[str]) -> str:
    """Return a moment such as "Tuesday, March 24, 2026, 23:30 (Asia/Tokyo)"."""
    try:
        moment = datetime.fromisoformat(found[1])
    except ValueError:
        return found[0]
    return f"{moment:%A, %B} {moment.day}, {moment:%Y, %H:%M} ({found[2]})"


def without_attachments(text: str) -> tuple[str, int]:
    """Return a message without its list of attachments, and the number of attachments."""
    found = _attached.search(text)
    if found is None:
        return text, 0
    return text[: found.start()], found[0].count("\n  <attachment>\n")


def decode_json(text: str) -> Any:
    """Parse JSON. Return None if the text is invalid."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def is_failure(tool: str, text: str, value: object) -> bool:
    """Return True if a tool result looks like an error from a QuickApps tool. Tool results have no
    error flag.
    """
    if isinstance(value, Mapping):
        return bool(value.get("error"))
    return value is None and (text.startswith(f"{tool}: ") or bool(_failure.match(text)))


def with_margin(text: str, margin: str) -> str:
    whole = text.strip()
    if len(whole) > MOST_CHARACTERS:
        whole = f"{whole[:MOST_CHARACTERS]}…\n\n(cut: {len(whole):,} characters in all)"
    return "\n".join(f"{margin}{line}".rstrip() for line in whole.splitlines())


def markdown(value: Any) -> str:
    """Convert an object or list to a Markdown list, and any other value to one line."""
    if isinstance(value, Mapping) and value:
        lines = [f"- **{label(name)}:** {one_line(member)}" for name, member in value.items()]
    elif isinstance(value, list) and value:
        lines = [f"- {one_line(item)}" for item in value]
    else:
        return one_line(value)
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = [f"- … and {len(lines) - MOST_LINES} more"]
    return "\n".join(lines)


def one_line(value: Any, depth: int = 1) -> str:
    if isinstance(value, dict) and value and depth:
        text = ", ".join(f"{name}: {one_line(one, depth - 1)}" for name, one in value.items())
    elif isinstance(value, list) and value and depth:
        text = ", ".join(one_line(one, depth - 1) for one in value)
    elif isinstance(value, str):
        text = value
    else:
        written = msgspec.json.encode(value).decode()
        text = IN_WORDS.get(written, written)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def label(name: str) -> str:
    """Return a label for a field, such as "Wind (km/h)" for `wind_km_h`."""
    unit = next((unit for unit in UNITS if name.endswith(unit) and name != unit), "")
    return f"{in_words(name.removesuffix(unit))}{f' ({UNITS[unit]})' if unit else ''}"
