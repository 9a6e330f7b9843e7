"""What the tools do that write notes. Each raises `NoteRefused`, `ToolError`."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from apps.capabilities.notes.run_notes import RunNotes, ask
from apps.capabilities.notes.text import quoted
from apps.errors import InvalidParameter
from apps.notes import store
from apps.notes.content import NoteContent
from apps.notes.models import Note
from apps.notes.store import Author

OPERATIONS = ("add", "setText", "setFields", "rename", "delete")
SYSTEM_KEYS = frozenset({"title", "text", "created", "modified", "type", "creator", "modifier"})
"""Of TiddlyWiki's fields, those that every note has here by itself."""


async def operate(own: RunNotes, given: dict[str, Any]) -> str:
    operation = given["operation"]
    if operation not in WORK:
        raise InvalidParameter(
            "operation", f"{str(operation)[:60]!r} is none of {', '.join(OPERATIONS)}."
        )
    meta = read_meta(given.get("extraMeta") or "")
    return await ask(WORK[operation], own.owner(given), given, meta, own.author)


def add(owner: str, given: dict[str, Any], meta: Mapping[str, Any], author: Author) -> str:
    content = with_meta(NoteContent(given["title"], given.get("text") or ""), meta)
    note = store.create(owner, content, author)
    return f"The note {quoted(note.title)} was added."


def set_text(owner: str, given: dict[str, Any], meta: Mapping[str, Any], author: Author) -> str:
    text = given.get("text")
    if text is None:
        raise InvalidParameter(
            "text", "it is missing; write the whole text that the note is to have."
        )
    return changed(
        owner, given["title"], author, lambda now: with_meta(replace(now, text=text), meta)
    )


def set_fields(owner: str, given: dict[str, Any], meta: Mapping[str, Any], author: Author) -> str:
    if not meta:
        raise InvalidParameter(
            "extraMeta", 'it is empty; write JSON such as {"tags": ["work"], "status": "open"}.'
        )
    return changed(owner, given["title"], author, lambda now: with_meta(now, meta))


def rename(owner: str, given: dict[str, Any], meta: Mapping[str, Any], author: Author) -> str:
    title = given.get("text") or ""
    if not title.strip():
        raise InvalidParameter("text", "it is missing; write the new title.")
    note, followed = store.rename(store.find(owner, given["title"]), title, author)
    return f"The note is named {quoted(note.title)} now. Links follow in {followed} other notes."


def delete(owner: str, given: dict[str, Any], meta: Mapping[str, Any], author: Author) -> str:
    note = store.delete(store.find(owner, given["title"]), author)
    return f"The note {quoted(note.title)} was deleted. The person can bring it back."


WORK: Mapping[str, Callable[[str, dict[str, Any], Mapping[str, Any], Author], str]] = dict(
    zip(OPERATIONS, (add, set_text, set_fields, rename, delete), strict=True)
)


async def edit(own: RunNotes, given: dict[str, Any]) -> str:
    """Put `new` in the place of `old`, which has to stand in the text exactly once."""
    owner, old, new = own.owner(given), given["old"], given["new"]
    if not old:
        raise InvalidParameter("old", "it is empty; write the part of the text that is to change.")
    return await ask(changed, owner, given["title"], own.author, lambda now: edited(now, old, new))


def edited(content: NoteContent, old: str, new: str) -> NoteContent:
    """Raises `InvalidParameter`."""
    count = occurrences(content.text, old)
    if count != 1:
        problem = (
            "the text does not have it; read the note, and repeat a part of it exactly"
            if not count
            else f"the text has it {count} times; write more of what stands around it"
        )
        raise InvalidParameter("old", f"{problem}.")
    return replace(content, text=content.text.replace(old, new))


def occurrences(text: str, part: str) -> int:
    """Also those that overlap: which of them is meant cannot be told either."""
    count, place = 0, text.find(part)
    while place >= 0:
        count, place = count + 1, text.find(part, place + 1)
    return count


def changed(
    owner: str, title: str, author: Author, change: Callable[[NoteContent], NoteContent]
) -> str:
    before: Note = store.find(owner, title)
    note = store.change_newest(owner, title, change, author)
    if note.number == before.number:
        return f"The note {quoted(note.title)} says that already."
    return f"The note {quoted(note.title)} was changed; this is its version {note.number}."


def read_meta(written: str) -> Mapping[str, Any]:
    """Raises `InvalidParameter`."""
    try:
        found = json.loads(written) if written.strip() else {}
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidParameter(
            "extraMeta", 'it is no JSON object; write one such as {"tags": ["work"]}.'
        )
    return found


def with_meta(content: NoteContent, meta: Mapping[str, Any]) -> NoteContent:
    """Raises `InvalidParameter`. Null takes a field away."""
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
    """A list, or a text as TiddlyWiki writes one: `work [[two words]]`. Raises `InvalidParameter`."""
    if value is None:
        return ()
    if isinstance(value, str):
        parts = value.replace("]]", "[[").split("[[")
        plain, exact = parts[::2], parts[1::2]
        return (*(tag for part in plain for tag in part.split()), *exact)
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
        raise InvalidParameter("extraMeta", "its tags are no list of words.")
    return tuple(value)
