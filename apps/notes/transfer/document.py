"""Converts notes to Markdown files and back. A file contains front matter and the note's text."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

import yaml

from apps.datetimes import read_datetime
from apps.manifest.markdown.front_matter import FrontMatterInvalid, Value, compose_node, node_values
from apps.notes.content import NoteContent, check_content
from apps.notes.errors import NoteRefused
from apps.notes.models import Note

LONGEST_BLOCK = 250_000
"""The maximum length of a file's front matter. The longest valid fields have 100,000 characters."""

_block = re.compile(r"---[ \t]*\n(?P<block>.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NoteDocument:
    """A parsed Markdown file. A time is None if the front matter does not contain it."""

    content: NoteContent
    created: datetime | None = None
    modified: datetime | None = None


def write_document(note: Note, text: str) -> str:
    """Return the Markdown file for a note. `text` is the note's text, in which the links already
    point to files in the export folder.
    """
    facts: dict[str, Any] = {"title": note.title}
    facts |= {"tags": note.tags} if note.tags else {}
    facts |= {"fields": note.fields} if note.fields else {}
    facts |= {name: moment(at) for name, at in moments_of(note).items()}
    block = yaml.safe_dump(facts, allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{block}---\n{text}"


def moments_of(note: Note) -> dict[str, datetime]:
    return {"created": note.created_at, "modified": note.modified_at}


def moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


def read_note_document(name: str, content: bytes) -> NoteDocument:
    """Parse the Markdown file `name`. Raises `NoteRefused`, with the file's name in its message, if
    the file is invalid.
    """
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise refusal_error(name, "it is not UTF-8; save it as UTF-8.") from None
    found = _block.match(text)
    facts = {} if found is None else read_facts(name, found["block"])
    body = text if found is None else text[found.end() :]
    try:
        return document_of(facts, body, PurePosixPath(name).stem)
    except NoteRefused as error:
        raise refusal_error(name, f"{error.field}: {error}") from error


def read_facts(name: str, block: str) -> Mapping[str, Value]:
    """Parse the front matter of the Markdown file `name`. Raises `NoteRefused` if it is invalid."""
    if not block.strip():
        return {}
    if len(block) > LONGEST_BLOCK:
        raise refusal_error(
            name,
            f"its front matter has {len(block):,} characters; the limit is {LONGEST_BLOCK:,}.",
        )
    try:
        return node_values(compose_node(block))
    except FrontMatterInvalid as error:
        raise refusal_error(name, f"its front matter {error.problems[0].message}.") from error
    except yaml.YAMLError as error:
        problem = str(error).splitlines()[0]
        raise refusal_error(name, f"its front matter is not valid YAML: {problem}.") from error


def document_of(facts: Mapping[str, Value], body: str, stem: str) -> NoteDocument:
    """Return the note that these front matter values describe. The default title is `stem`. Raises
    `NoteRefused` if a value is invalid.
    """
    title = facts.get("title")
    own = ("title", "tags", "fields", "created", "modified")
    others = {name: value for name, value in facts.items() if name not in own}
    content = NoteContent(
        title if isinstance(title, str) and title.strip() else stem.translate(_no_marks),
        body,
        read_tags(facts.get("tags")),
        {**read_fields(others), **read_fields(facts.get("fields") or {})},
    )
    return NoteDocument(
        check_content(content), read_moment("created", facts), read_moment("modified", facts)
    )


_no_marks = str.maketrans(dict.fromkeys("[]|", " "))


def read_tags(value: Value) -> tuple[str, ...]:
    """Return the tags from a list or a comma-separated text in the front matter. Raises
    `NoteRefused` for any other value.
    """
    if value is None:
        return ()
    tags = value.split(",") if isinstance(value, str) else value
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise NoteRefused("tags", "must be a list of strings.")
    return tuple(str(tag) for tag in tags)


def read_fields(value: Value) -> dict[str, str]:
    """Return the note's fields from an object. Raises `NoteRefused` if a value is not text."""
    if not isinstance(value, dict):
        raise NoteRefused("fields", "must be an object whose values are strings.")
    for name, one in value.items():
        if isinstance(one, dict):
            raise NoteRefused(f"fields.{name[:60]}", "must be a string.")
    return {name: field_text(one) for name, one in value.items()}


def field_text(value: Value) -> str:
    return ", ".join(map(field_text, value)) if isinstance(value, list) else str(value or "")


def read_moment(name: str, facts: Mapping[str, Value]) -> datetime | None:
    """Return the time `name` in the front matter, or None. Raises `NoteRefused` if it is invalid."""
    value = facts.get(name)
    if not value:
        return None
    try:
        return read_datetime(str(value))
    except ValueError as error:
        raise NoteRefused(name, str(error)) from None


def refusal_error(name: str, text: str) -> NoteRefused:
    return NoteRefused("file", f"{name[:200]}: {text}")
