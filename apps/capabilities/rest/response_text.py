"""Decodes the text of a response, and formats it as Markdown for a stage."""

import codecs
import csv
import json
import re
from collections.abc import Collection
from io import StringIO
from itertools import islice

from apps.capabilities.wrappers.redaction import credential_patterns, hide_credentials
from apps.capabilities.wrappers.value_texts import (
    STAGE_CHARACTERS,
    fence_code,
    one_line,
    shorten_text,
)
from apps.documents.encodings import best_encoding
from apps.documents.formats import MARKS
from apps.workspace.media_types import media_type

LOOKED_AT = 1024

_parameter = re.compile(r"charset\s*=\s*[\"']?([\w.:+-]+)", re.IGNORECASE)
_declaration = re.compile(rb"(?:encoding|charset)\s*=\s*[\"']?([\w.:+-]+)", re.IGNORECASE)
NOTHING = "No response text available"
MOST_ROWS = 50
MOST_COLUMNS = 20
CELL_CHARACTERS = 200

VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta"})
"""The HTML elements that have no end tag."""

_between_tags = re.compile(r">\s*<")
_opened_tag = re.compile(r"<([^\s<>/?!]+)")


def decode(body: bytes, content_type: str) -> str | None:
    """Decode the body, or return None for binary content. Invalid bytes become U+FFFD."""
    encoding = charset(body, content_type)
    if not encoding.startswith(("utf-16", "utf-32")) and b"\0" in body[:8192]:
        return None
    kind = media_type(content_type)
    if kind.startswith(("image/", "audio/", "video/", "font/")) and not kind.endswith("+xml"):
        return None
    try:
        return body.decode(encoding, "replace")
    # The name belongs to a codec such as hex or idna, which is not for text.
    except (LookupError, UnicodeError):
        return body.decode("utf-8", "replace")


def hide_in_body(body: bytes, content_type: str, credentials: Collection[str]) -> bytes:
    """Redact the credentials in the body. A body that is not text in its declared charset is
    searched as UTF-8 and UTF-16.
    """
    wanted = credential_patterns(credentials)
    text = decode(body, content_type)
    if text is not None and (shown := hide_credentials(text, wanted)) != text:
        try:
            body = shown.encode(charset(body, content_type), "replace")
        except (LookupError, UnicodeError):  # The same codecs as in `decode` are rejected.
            body = shown.encode()
    written = {
        one.encode(encoding, "replace").decode("latin-1")
        for one in wanted.texts
        for encoding in ("utf-8", "utf-16-le", "utf-16-be")
    }
    return hide_credentials(body.decode("latin-1"), credential_patterns(written)).encode("latin-1")


def charset(body: bytes, content_type: str) -> str:
    """Return the charset from the byte order mark, the header or the text's declaration, in this
    order.
    """
    for mark, name in MARKS.items():
        if body.startswith(mark):
            return name
    if (told := _parameter.search(content_type)) and (name := codec_name(told[1])):
        return name
    markup = any(kind in content_type.lower() for kind in ("xml", "html"))
    if markup and (told_inside := _declaration.search(body[:LOOKED_AT])):
        return codec_name(told_inside[1].decode("ascii", "replace")) or "utf-8"
    return best_encoding(body)


def codec_name(name: str) -> str:
    """Return Python's name for a charset, or "" if Python does not support it."""
    try:
        return codecs.lookup(name).name
    except LookupError:
        return ""


def response_block(text: str, content_type: str) -> str:
    return f"> ##### Response:\n\n{format_text(text, content_type)}\n"


def error_block(status_line: str, text: str) -> str:
    body = fence_code(shorten_text(text, STAGE_CHARACTERS), "text") if text else NOTHING
    return f"> ##### Status Code:\n\n{status_line}\n\n> ##### Response:\n\n{body}\n"


def format_text(text: str, content_type: str) -> str:
    """Format the text as Markdown according to its type. Text that cannot be parsed is shown
    unchanged.
    """
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
    return fence_code(shorten_text(text, STAGE_CHARACTERS), language)


def indented_json(text: str) -> str:
    if len(text) > STAGE_CHARACTERS:
        return text  # Only the beginning is shown.
    try:
        return json.dumps(json.loads(text), indent=4, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def indented_markup(text: str, unclosed: Collection[str] = ()) -> str:
    """Put each tag of the markup on its own indented line. `unclosed` elements have no end tag."""
    # The markup is not parsed, because entities in an untrusted document must not be expanded.
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
    """Convert CSV to a Markdown table, or return "" if the text is not CSV."""
    try:
        rows = list(islice(csv.reader(StringIO(text)), MOST_ROWS + 2))
    except csv.Error:
        return ""
    rows = [row[:MOST_COLUMNS] for row in rows if row]
    if not rows:
        return ""
    width = max(map(len, rows))
    head, *body = ([*map(table_cell, row), *[""] * (width - len(row))] for row in rows)
    lines = [head, ["---"] * width, *body[:MOST_ROWS]]
    notice = f"\n\n… (cut after {MOST_ROWS} rows)" if len(body) > MOST_ROWS else ""
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + notice


def table_cell(text: str) -> str:
    escaped = one_line(text, CELL_CHARACTERS).replace("\\", "\\\\").replace("|", "\\|")
    return escaped.replace("`", "\\`").replace("<", "&lt;")
