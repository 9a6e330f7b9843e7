"""All notes of a workspace as a folder of Markdown files, with the files that they have."""

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
from apps.workspace.local import files
from apps.workspace.local.models import StoredFile
from apps.workspace.local.paths import write_path

LONGEST_NAME = 120
"""Bytes of a file's name without its ending."""
READ = 200
"""Notes that are in memory at once."""

_unfit = re.compile(r"[\\/:*?\"<>|\x00-\x1f\x7f]+")


def exported(owner: str) -> Iterator[tuple[str, bytes]]:
    """The files by their paths in the folder."""
    taken: set[str] = set()
    for note in notes_of(owner).order_by("key").iterator(chunk_size=READ):
        document = write_document(note, exported_text(owner, note.text))
        yield file_name(note.title, taken), document.encode()
    for name in attached(owner):
        try:
            found = files.read(owner, write_path(owner, name), LARGEST)
        except FileRefused:  # deleted meanwhile
            continue
        yield f"{EXPORTED}{name.removeprefix(FOLDER)}", found.content


def attached(owner: str) -> list[str]:
    rows = StoredFile.objects.filter(bucket=owner, name__startswith=FOLDER).order_by("name")
    return [name for name in rows.values_list("name", flat=True) if name.startswith(FOLDER)]


def file_name(title: str, taken: set[str]) -> str:
    """One that all file systems have, and no other note of the folder."""
    plain = _unfit.sub("-", title).strip(" .-") or "note"
    stem = plain.encode()[:LONGEST_NAME].decode(errors="ignore").rstrip(" .")
    name, number = stem, 1
    while name.casefold() in taken:
        number += 1
        name = f"{stem} {number}"
    taken.add(name.casefold())
    return f"{name}.md"


def write_zip(owner: str, file: IO[bytes]) -> int:
    """How many files were written."""
    count = 0
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, content in exported(owner):
            archive.writestr(name, content)
            count += 1
    return count


def write_folder(owner: str, root: Path) -> int:
    """How many files were written. Raises OSError."""
    count = 0
    for name, content in exported(owner):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        count += 1
    return count
