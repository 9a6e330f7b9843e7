"""What tools returned, as Markdown that a person can read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from apps.agent.messages import Message, ToolCall
from apps.workspace.demo.labels import label, tool_title

MOST_CHARACTERS = 3_000
"""Of one text that a tool returned; the whole of it is in the stage of the call."""
MOST_ROWS = 20
MOST_KEYS = 40
DEEPEST = 3
LONGEST_CELL = 200

READ_SKILL = "internal_skills_read_skill"

_failure = re.compile(
    r"\s*(?:Error\b|Parameter \S+ is invalid|The tool (?:call `|failed)"
    r"|.{0,200}?\b(?:status(?: code)?:?|answered(?: with)?) [45]\d\d\b)",
    re.IGNORECASE | re.DOTALL,
)
_time = re.compile(r"\n?\[Timestamp: [^\]\n]*\]\Z")
"""The line that tells a model when a result was made; a person need not read it."""
_attached = re.compile(r"\n<attachments>\n.*</attachments>(?:\n\[[^\n]*\])*\Z", re.DOTALL)
"""What tells a model of attachments; a person sees them."""


def render(call: ToolCall, result: Message | None) -> str:
    """One call and what came of it."""
    title = f"**{tool_title(call.name)}**{shown_arguments(call.arguments)}"
    if result is None:
        return f"{title} brought no result."
    text, _ = without_attachments(_time.sub("", result.text))
    value = decoded(text)
    if is_failure(call.name, text, value):
        return f"{title} failed:\n\n{quoted(text)}"
    if not text.strip():
        return f"{title} returned nothing."
    if call.name == READ_SKILL:
        return f"{title}\n\n{verbatim(text)}"
    if value is None:
        return f"{title}\n\n{quoted(text)}"
    return f"{title}\n\n{markdown(value)}"


def without_attachments(text: str) -> tuple[str, int]:
    """A message without what it says of its attachments, and how many there are."""
    told = _attached.search(text)
    if told is None:
        return text, 0
    return text[: told.start()], told[0].count("\n  <attachment>\n")


def shown_arguments(written: str) -> str:
    """A single argument goes without its name."""
    arguments = decoded(written)
    if not isinstance(arguments, Mapping) or not arguments:
        return ""
    if len(arguments) == 1:
        return f" ({cell(*arguments.values())})"
    return f" ({', '.join(f'{name}: {cell(value)}' for name, value in arguments.items())})"


def decoded(text: str) -> Any:
    """The JSON value; None when it is none."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def is_failure(name: str, text: str, value: object) -> bool:
    """Whether a result reads like an error, as tools here write them: there is no other sign."""
    if isinstance(value, Mapping):
        return bool(value.get("error"))
    return value is None and (text.startswith(f"{name}: ") or bool(_failure.match(text)))


def quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in shortened(text).splitlines())


def verbatim(text: str) -> str:
    """Line by line as it was written: a skill begins with lines that Markdown makes a heading."""
    return "\n".join(f"    {line}".rstrip() for line in shortened(text).splitlines())


def shortened(text: str) -> str:
    whole = text.strip()
    if len(whole) <= MOST_CHARACTERS:
        return whole
    return f"{whole[:MOST_CHARACTERS]}…\n\n(cut: {len(whole):,} characters in all)"


def markdown(value: Any, depth: int = 0) -> str:
    """A list for an object, a table for objects of the same kind."""
    if isinstance(value, Mapping) and value:
        return members(value, depth)
    if is_table(value):
        return table(value)
    if isinstance(value, list) and value and depth < DEEPEST:
        return bullets([markdown(item, depth + 1) for item in value], len(value), depth)
    return cell(value)


def members(value: Mapping[str, Any], depth: int) -> str:
    lines = []
    for name, member in list(value.items())[:MOST_KEYS]:
        title = label(str(name))
        nested = isinstance(member, Mapping | list) and member and depth < DEEPEST
        if not nested or is_plain(member):
            lines.append(f"**{title}:** {cell(member)}")
        elif is_table(member):
            lines.append(f"**{title}:**\n\n{indented(table(member))}")
        else:
            lines.append(f"**{title}:**\n{indented(markdown(member, depth + 1))}")
    return bullets(lines, len(value), depth)


def bullets(lines: Sequence[str], total: int, depth: int) -> str:
    shown = [f"- {line}" for line in lines[:MOST_KEYS]]
    if total > len(shown):
        shown.append(f"- … and {total - len(shown)} more")
    return "\n".join(shown)


def indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def is_plain(value: object) -> bool:
    return isinstance(value, list) and not any(isinstance(i, Mapping | list) for i in value)


def is_table(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) > 1
        and all(isinstance(row, Mapping) and row for row in value)
        and len({frozenset(row) for row in value}) == 1
        and len(value[0]) <= 8
    )


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    names = list(rows[0])
    lines = [[cell(label(str(name))) for name in names], ["---"] * len(names)]
    lines += [[cell(row[name]) for name in names] for row in rows[:MOST_ROWS]]
    written = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    rest = len(rows) - MOST_ROWS
    return f"{written}\n\n… and {rest} more rows" if rest > 0 else written


def cell(value: Any) -> str:
    """A value on one line."""
    match value:
        case None:
            text = "none"
        case bool():
            text = "yes" if value else "no"
        case str():
            text = " ".join(value.split())
        case list() if is_plain(value):
            text = ", ".join(cell(item) for item in value[:MOST_KEYS]) or "none"
        case _:
            text = msgspec.json.encode(value).decode()
    text = text if len(text) <= LONGEST_CELL else f"{text[:LONGEST_CELL]}…"
    return text.replace("|", "\\|")
