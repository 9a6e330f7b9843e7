"""Applications in zip files, which come from anybody: nothing is unpacked to a disk."""

import stat
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import PurePosixPath

from apps.archives import UNREADABLE, TooManyEntries, open_archive
from apps.catalog.application_files.document import DOCUMENT_FILE
from apps.catalog.application_files.folders import (
    MOST_BYTES,
    MOST_FILES,
    FilesRefused,
    check_size,
)
from apps.catalog.content.items import LARGEST_FILE

FOLDER = "application"
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""The time of every file in an archive, so that equal applications make equal archives."""
MOST_ENTRIES = 5_000


def archive(files: Mapping[str, bytes]) -> bytes:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, FIRST_DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            zipped.writestr(entry, content)
    return stream.getvalue()


def unpacked(content: bytes) -> dict[str, bytes]:
    """Each file by its path. Raises `FilesRefused`."""
    try:
        with open_archive(BytesIO(content), MOST_ENTRIES) as zipped:
            return read_entries(zipped)
    except FilesRefused:
        raise
    except TooManyEntries as error:
        raise FilesRefused("", f"the zip file has more than {MOST_ENTRIES:,} entries.") from error
    except UNREADABLE as error:
        raise FilesRefused("", f"this is no zip file that can be read ({error}).") from error


def read_entries(zipped: zipfile.ZipFile) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    names: set[str] = set()
    left = MOST_BYTES
    for entry in zipped.infolist():
        name = entry.filename
        check_name(name)
        check_entry(entry)
        if entry.is_dir() or is_hidden(name):
            continue
        if name.casefold() in names:
            raise FilesRefused(name, "is in the zip file twice.")
        names.add(name.casefold())
        if len(files) == MOST_FILES:
            raise FilesRefused("", f"the zip file has more than {MOST_FILES} files.")
        # What the entry says of its size may be a lie: no more than the limit is unpacked.
        with zipped.open(entry) as stream:
            unzipped = stream.read(min(LARGEST_FILE, left) + 1)
        check_size(name, len(unzipped))
        if (left := left - len(unzipped)) < 0:
            raise FilesRefused("", f"the files have more than {MOST_BYTES:,} bytes together.")
        files[name] = unzipped
    return files


def check_name(name: str) -> None:
    """Raises `FilesRefused`."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name.split("/")[0]:
        raise FilesRefused(name[:200], "leads out of the zip file.")


def check_entry(entry: zipfile.ZipInfo) -> None:
    """Raises `FilesRefused`."""
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise FilesRefused(entry.filename, "is a link; put the file itself into the zip file.")
    if entry.flag_bits & 1:
        raise FilesRefused(entry.filename, "is encrypted; make the zip file without a password.")
    check_size(entry.filename, entry.file_size)


def is_hidden(name: str) -> bool:
    """Whether no part of an application: hidden files, and what macOS puts beside them."""
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)


def applications_in(files: Mapping[str, bytes], name: str = "") -> dict[str, dict[str, bytes]]:
    """The files of each application by its slug, from paths as `export_content` makes them.

    The folder of a single application, or its files alone, will do; then the slug is the name of
    the folder or `name`. Raises `FilesRefused`.
    """
    holders = sorted(str(PurePosixPath(path).parent) for path in files if is_document(path))
    if not holders:
        raise FilesRefused("", f"there is no {DOCUMENT_FILE} in the files.")
    found: dict[str, dict[str, bytes]] = {}
    for holder in holders:
        slug = PurePosixPath(holder).name or name
        if slug in found:
            raise FilesRefused(holder, f"an application {slug!r} is in the files already.")
        found[slug] = {}
    for path, content in sorted(files.items()):
        above = [holder for holder in holders if PurePosixPath(path).is_relative_to(holder)]
        if len(above) != 1:
            raise FilesRefused(path, f"is not in the folder of one {DOCUMENT_FILE}.")
        beside = PurePosixPath(path).relative_to(above[0]).as_posix()
        found[PurePosixPath(above[0]).name or name][beside] = content
    return found


def is_document(path: str) -> bool:
    return PurePosixPath(path).name == DOCUMENT_FILE
