"""Exports the notes of a workspace as a folder of Markdown files with their attachments."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile

from apps.errors import FileRefused
from apps.notes.attachments import EXPORTED, FOLDER, exported_text
from apps.notes.store import notes_of
from apps.notes.transfer.document import write_document
from apps.notes.transfer.sources import LARGEST
from apps.workspace.local.files import files
from apps.workspace.local.files.paths import write_path
from apps.workspace.local.models import StoredFile

LONGEST_NAME = 120
"""The maximum number of bytes in an exported file's name, without its extension."""
READ = 200
"""The maximum number of notes in memory at a time."""

_unfit = re.compile(r"[\\/:*?\"<>|\x00-\x1f\x7f]+")


def export_notes(owner: str) -> Iterator[tuple[str, bytes]]:
    """Yield each exported file's path, relative to the folder, and content."""
    used_names: set[str] = set()
    for note in notes_of(owner).order_by("key").iterator(chunk_size=READ):
        document = write_document(note, exported_text(owner, note.text))
        yield file_name(note.title, used_names), document.encode()
    for name in attached_paths(owner):
        try:
            found = files.read(owner, write_path(owner, name), LARGEST)
        except FileRefused:  # The file was deleted in the meantime.
            continue
        yield f"{EXPORTED}{name.removeprefix(FOLDER)}", found.content


def attached_paths(owner: str) -> list[str]:
    rows = StoredFile.objects.filter(bucket=owner, name__startswith=FOLDER).order_by("name")
    return [name for name in rows.values_list("name", flat=True) if name.startswith(FOLDER)]


def file_name(title: str, used_names: set[str]) -> str:
    """Return a file name for a note with this title, and add the name to `used_names`. The name is
    valid on all file systems, and was not in `used_names`.
    """
    plain = _unfit.sub("-", title).strip(" .-") or "note"
    stem = plain.encode()[:LONGEST_NAME].decode(errors="ignore").rstrip(" .")
    name, number = stem, 1
    while name.casefold() in used_names:
        number += 1
        name = f"{stem} {number}"
    used_names.add(name.casefold())
    return f"{name}.md"


def write_zip(owner: str, file: IO[bytes]) -> int:
    """Write the owner's notes to a ZIP archive. Return the number of files in the archive."""
    count = 0
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, content in export_notes(owner):
            archive.writestr(name, content)
            count += 1
    return count


def write_folder(owner: str, root: Path) -> int:
    """Write the owner's notes to a folder, and return the number of files. Raises `OSError`."""
    count = 0
    for name, content in export_notes(owner):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        count += 1
    return count
