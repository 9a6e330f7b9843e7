"""Short functions that write notes for tests."""

from __future__ import annotations

from typing import Any

from apps.notes import store
from apps.notes.content import NoteContent
from apps.notes.models import Note
from apps.notes.store import Author, notes_of

OWNER, OTHER = "user-901", "team-33"
PERSON = Author(None)
AGENT = Author(None, is_agent=True, application="demo", conversation="c-1")


def write(title: str, text: str = "", *tags: str, owner: str = OWNER, **fields: str) -> Note:
    return store.create(owner, NoteContent(title, text, tags, fields), PERSON)


def titles(owner: str = OWNER) -> list[str]:
    return [note.title for note in notes_of(owner).order_by("key")]


def text_of(title: str, owner: str = OWNER) -> str:
    return store.find_note(owner, title).text


def said(note: Note) -> list[tuple[int, str, str, bool]]:
    """Return number, action, title and whether an agent wrote it, for each version."""
    rows: Any = note.versions.order_by("number")
    return [(row.number, row.action, row.title, row.is_by_agent) for row in rows]
