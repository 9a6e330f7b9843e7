"""Implements the tools that write notes. They raise `NoteRefused` or `ToolError`."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from apps.capabilities.notes.run_notes import RunNotes, run_query
from apps.capabilities.notes.text import quote_line
from apps.errors import InvalidParameter
from apps.notes import store
from apps.notes.content import NoteContent
from apps.notes.models import Note
from apps.notes.store import Author

OPERATIONS = ("add", "setText", "setFields", "rename", "delete")
SYSTEM_KEYS = frozenset({"title", "text", "created", "modified", "type", "creator", "modifier"})
"""TiddlyWiki's names for properties that are not custom fields."""


async def operate(own: RunNotes, given: dict[str, Any]) -> str:
    operation = given["operation"]
    if operation not in WORK:
        raise InvalidParameter(
            "operation", f"{str(operation)[:60]!r} is not one of {', '.join(OPERATIONS)}."
        )
    meta = read_meta(given.get("extraMeta") or "")
    return await run_query(WORK[operation], own.owner(given), given, meta, own.author)


def add(owner: str, given: dict[str, Any], meta: Mapping[str, Any], author: Author) -> str:
    content = with_meta(NoteContent(given["title"], given.get("text") or ""), meta)
    note = store.create(owner, content, author)
    return f"The note {quote_line(note.title)} was added."


def set_text(owner: str, given: dict[str, Any], meta: Mapping[str, Any], author: Author) -> str:
    text = given.get("text")
    if text is None:
        raise InvalidParameter("text", "it is missing; pass the whole new text of the note.")
    return change_note(
        owner, given["title"], author, lambda now: with_meta(replace(now, text=text), meta)
    )


def set_fields(owner: str, given: dict[str, Any], meta: Mapping[str, Any], author: Author) -> str:
    if not meta:
        raise InvalidParameter(
            "extraMeta", 'it is empty; pass JSON such as {"tags": ["work"], "status": "open"}.'
        )
    return change_note(owner, given["title"], author, lambda now: with_meta(now, meta))


def rename(owner: str, given: dict[str, Any], meta: Mapping[str, Any], author: Author) -> str:
    title = given.get("text") or ""
    if not title.strip():
        raise InvalidParameter("text", "it is missing; pass the new title.")
    note, followed = store.rename(store.find_note(owner, given["title"]), title, author)
    return (
        f"The note is named {quote_line(note.title)} now. Links follow in {followed} other notes."
    )


def delete(owner: str, given: dict[str, Any], meta: Mapping[str, Any], author: Author) -> str:
    note = store.delete(store.find_note(owner, given["title"]), author)
    return f"The note {quote_line(note.title)} was deleted. The user can restore it."


WORK: Mapping[str, Callable[[str, dict[str, Any], Mapping[str, Any], Author], str]] = dict(
    zip(OPERATIONS, (add, set_text, set_fields, rename, delete), strict=True)
)


async def edit(own: RunNotes, given: dict[str, Any]) -> str:
    """Replace the text `old`, which must occur exactly once in the note, with `new`."""
    owner, old, new = own.owner(given), given["old"], given["new"]
    if not old:
        raise InvalidParameter("old", "it is empty; pass the part of the text to change.")
    return await run_query(
        change_note, owner, given["title"], own.author, lambda now: edit_content(now, old, new)
    )


def edit_content(content: NoteContent, old: str, new: str) -> NoteContent:
    """Replace `old` with `new`. Raises `InvalidParameter` unless the text contains `old` exactly
    once.
    """
    count = occurrences(content.text, old)
    if count != 1:
        problem = (
            "the text does not contain it; read the note, and repeat a part of it exactly"
            if not count
            else f"it occurs {count} times in the text; include more of the surrounding text"
        )
        raise InvalidParameter("old", f"{problem}.")
    return replace(content, text=content.text.replace(old, new))


def occurrences(text: str, part: str) -> int:
    """Count the occurrences of `part`. Overlapping ones count too, because the model may mean any
    of them.
    """
    count, place = 0, text.find(part)
    while place >= 0:
        count, place = count + 1, text.find(part, place + 1)
    return count


def change_note(
    owner: str, title: str, author: Author, change: Callable[[NoteContent], NoteContent]
) -> str:
    before: Note = store.find_note(owner, title)
    note = store.change_newest(owner, title, change, author)
    if note.number == before.number:
        return f"The note {quote_line(note.title)} already has this content."
    return f"The note {quote_line(note.title)} was changed. Its version is now {note.number}."


def read_meta(written: str) -> Mapping[str, Any]:
    """Parse the argument `extraMeta`. Raises `InvalidParameter` if it is not a JSON object."""
    try:
        found = json.loads(written) if written.strip() else {}
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidParameter(
            "extraMeta", 'it is not a JSON object; pass one such as {"tags": ["work"]}.'
        )
    return found


def with_meta(content: NoteContent, meta: Mapping[str, Any]) -> NoteContent:
    """Set fields of the note; null removes a field. Raises `InvalidParameter` for invalid tags."""
    fields = dict(content.fields)
    for name, value in meta.items():
        if name == "tags" or name in SYSTEM_KEYS:
            continue
        if value is None:
            fields.pop(name, None)
        else:
            fields[name] = (
                value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            )
    tags = read_tags(meta["tags"]) if "tags" in meta else content.tags
    return replace(content, tags=tags, fields=fields)


def read_tags(value: Any) -> tuple[str, ...]:
    """Return the tags in a list, or in a text in TiddlyWiki's format: `work [[two words]]`. Raises
    `InvalidParameter` for any other value.
    """
    if value is None:
        return ()
    if isinstance(value, str):
        parts = value.replace("]]", "[[").split("[[")
        plain, exact = parts[::2], parts[1::2]
        return (*(tag for part in plain for tag in part.split()), *exact)
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
        raise InvalidParameter("extraMeta", "its tags are not a list of strings.")
    return tuple(value)
