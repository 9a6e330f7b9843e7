"""An answer as a person reads it in a stage."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection
from io import StringIO
from itertools import islice

from apps.capabilities.rest.decoding import media_type
from apps.capabilities.wrappers.fences import fenced
from apps.capabilities.wrappers.texts import STAGE_CHARACTERS, one_line, shortened

MOST_ROWS = 50
MOST_COLUMNS = 20
CELL_CHARACTERS = 200

VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta"})
"""Elements of HTML that nothing closes."""

_between_tags = re.compile(r">\s*<")
_opened_tag = re.compile(r"<([^\s<>/?!]+)")


def response_block(text: str, content_type: str) -> str:
    return f"> ##### Response:\n\n{formatted(text, content_type)}\n"


def error_block(status_line: str, text: str) -> str:
    body = fenced(shortened(text, STAGE_CHARACTERS), "text") if text else NOTHING
    return f"> ##### Status Code:\n\n{status_line}\n\n> ##### Response:\n\n{body}\n"


NOTHING = "No response text available"


def formatted(text: str, content_type: str) -> str:
    """Markdown; what cannot be formatted is shown as it is."""
    if not text:
        return NOTHING
    language = media_type(content_type).rpartition("/")[2]
    if language == "csv" and (shown := table(text)):
        return shown
    if language == "json" or language.endswith("+json"):
        language, text = "json", indented_json(text)
    elif language == "xml" or language.endswith("+xml"):
        language, text = "xml", indented_markup(text)
    elif language == "html":
        text = indented_markup(text, VOID)
    elif language in {"", "plain"}:
        language = "text"
    return fenced(shortened(text, STAGE_CHARACTERS), language)


def indented_json(text: str) -> str:
    if len(text) > STAGE_CHARACTERS:
        return text  # the most of it is not shown
    try:
        return json.dumps(json.loads(text), indent=4, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def indented_markup(text: str, unclosed: Collection[str] = ()) -> str:
    """Tags on lines of their own; those `unclosed` have no end.

    It is not parsed: entities of a stranger stay what they are.
    """
    if len(text) > STAGE_CHARACTERS:
        return text
    depth, lines = 0, []
    for line in _between_tags.sub(">\n<", text.strip()).splitlines():
        if line.startswith("</"):
            depth = max(depth - 1, 0)
        lines.append(f"{'  ' * min(depth, 20)}{line}")
        if (opened := _opened_tag.match(line)) and "</" not in line and not line.endswith("/>"):
            depth += opened[1].lower() not in unclosed
    return "\n".join(lines)


def table(text: str) -> str:
    """CSV as a Markdown table; "" when it is no table."""
    try:
        rows = list(islice(csv.reader(StringIO(text)), MOST_ROWS + 2))
    except csv.Error:
        return ""
    rows = [row[:MOST_COLUMNS] for row in rows if row]
    if not rows:
        return ""
    width = max(map(len, rows))
    head, *body = ([*map(cell, row), *[""] * (width - len(row))] for row in rows)
    lines = [head, ["---"] * width, *body[:MOST_ROWS]]
    notice = f"\n\n… (cut after {MOST_ROWS} rows)" if len(body) > MOST_ROWS else ""
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + notice


def cell(text: str) -> str:
    escaped = one_line(text, CELL_CHARACTERS).replace("\\", "\\\\").replace("|", "\\|")
    return escaped.replace("`", "\\`").replace("<", "&lt;")
