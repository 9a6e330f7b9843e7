"""Imports a folder of Markdown files as notes. If one file is invalid, nothing is imported."""

import mimetypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from django.core.files.base import ContentFile
from django.db import transaction
from django.utils import timezone

from apps.errors import FileRefused
from apps.notes import store
from apps.notes.attachments import EXPORTED, FOLDER, imported_text
from apps.notes.content import check_content, note_content, title_key
from apps.notes.errors import NoteRefused
from apps.notes.models import Note
from apps.notes.store import Action, Author, NewNote, notes_of
from apps.notes.transfer.document import NoteDocument, read_note_document, refusal_error
from apps.notes.transfer.sources import NoteSource
from apps.workspace.local.files import files

ENDINGS = (".md", ".markdown")


@dataclass(frozen=True, slots=True)
class ImportedNotes:
    """Counts the notes and files in an import."""

    new: int = 0
    changed: int = 0
    same: int = 0
    """The number of unchanged notes."""
    files: int = 0
    """The number of attachments."""
    left_out: int = 0
    """The number of ignored files."""


@transaction.atomic
def import_notes(owner: str, source: NoteSource, author: Author) -> ImportedNotes:
    """Import the notes and attachments in a folder. If a note with the same title and different
    content exists, add a new version to it.

    Raises `NoteRefused` with the file's name, and imports nothing, if a file is invalid.
    """
    names = source.names()
    written = [name for name in names if is_note(name)]
    attached = [name for name in names if name.startswith(EXPORTED)]
    if not written:
        raise NoteRefused("file", "it contains no Markdown files (.md).")
    counts = import_documents(owner, read_documents(owner, source, written), author)
    for name in attached:
        import_file(owner, name, source.read(name))
    left_out = len(names) - len(written) - len(attached)
    return replace(counts, files=len(attached), left_out=left_out)


def is_note(name: str) -> bool:
    return name.casefold().endswith(ENDINGS) and not name.startswith(EXPORTED)


def read_documents(
    owner: str, source: NoteSource, names: Sequence[str]
) -> Mapping[str, NoteDocument]:
    """Return the parsed notes by file name. Raises `NoteRefused` if a file is invalid, or if two
    have the same title.
    """
    found: dict[str, NoteDocument] = {}
    titles: dict[str, str] = {}
    for name in names:
        document = read_note_document(name, source.read(name))
        key = title_key(document.content.title)
        if key in titles:
            raise refusal_error(
                name, f"it has the same title as {titles[key][:200]}; change one of them."
            )
        titles[key] = name
        text = imported_text(owner, document.content.text)
        found[name] = replace(document, content=replace(document.content, text=text))
    return found


def import_documents(
    owner: str, documents: Mapping[str, NoteDocument], author: Author
) -> ImportedNotes:
    """Create and change notes from parsed files. `documents` maps file names to the parsed files.
    Raises `NoteRefused` with the file's name if a note is invalid.
    """
    # Existing texts are read one at a time for the comparison, because together they may take
    # gigabytes.
    there = {note.key: note for note in notes_of(owner).defer("text")}
    new: list[NewNote] = []
    changed = same = 0
    for name, document in documents.items():
        note = there.get(title_key(document.content.title))
        try:
            if note is None:
                new.append(new_note(document))
            elif note_content(note) == document.content:
                same += 1
            else:
                change(note, document, author)
                changed += 1
        except NoteRefused as error:
            raise refusal_error(name, str(error)) from error
    store.create_all(owner, new, author, Action.IMPORTED)
    return ImportedNotes(len(new), changed, same)


def new_note(document: NoteDocument) -> NewNote:
    """Return the document as a validated note. Raises `NoteRefused` if it is invalid."""
    modified = document.modified or timezone.now()
    return NewNote(check_content(document.content), document.created or modified, modified)


def change(note: Note, document: NoteDocument, author: Author) -> None:
    store.change(
        note, document.content, author, action=Action.IMPORTED, modified_at=document.modified
    )


def import_file(owner: str, name: str, content: bytes) -> None:
    """Store an imported attachment among the owner's files. Raises `NoteRefused` if it is rejected."""
    stored = f"{FOLDER}{name.removeprefix(EXPORTED)}"
    content_type = mimetypes.guess_type(PurePosixPath(name).name)[0] or "application/octet-stream"
    try:
        files.take(owner, stored, ContentFile(content), content_type, files.Condition())
    except FileRefused as error:
        raise refusal_error(name, str(error)) from error
