"""Reads and writes ZIP files that contain applications. Uploaded ZIP files are not trusted, and are
never unpacked to disk.
"""

import stat
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import PurePosixPath

from django.http import HttpResponse

from apps.archives import UNREADABLE, TooManyEntries, open_archive
from apps.catalog.application_files.document import DOCUMENT_FILE
from apps.catalog.application_files.folders import (
    MOST_BYTES,
    MOST_FILES,
    FilesRefused,
    check_file_size,
)
from apps.catalog.content.items import LARGEST_FILE
from apps.documents.zip_names import NamesUnreadable, named_entries
from apps.workspace.local.files.paths import clean_name, file_name_problem

FOLDER = "application"
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""The timestamp of all files in an archive. It is constant, so that identical applications have
identical archives.
"""
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


def unpack_archive(content: bytes) -> dict[str, bytes]:
    """Return the content of each file in a ZIP file, by path. Raises `FilesRefused` if the ZIP file
    is unreadable, unsafe or too large.
    """
    try:
        with open_archive(BytesIO(content), MOST_ENTRIES) as zipped:
            return read_entries(zipped)
    except FilesRefused:
        raise
    except NamesUnreadable as error:
        raise FilesRefused(
            "",
            "the file names have an unknown encoding; create the ZIP file with UTF-8 names.",
        ) from error
    except TooManyEntries as error:
        raise FilesRefused(
            "", f"the ZIP file has too many entries; the limit is {MOST_ENTRIES:,}."
        ) from error
    except UNREADABLE as error:
        raise FilesRefused("", f"this is not a readable ZIP file ({error}).") from error


def read_entries(zipped: zipfile.ZipFile) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    names: set[str] = set()
    left = MOST_BYTES
    for written, entry in named_entries(zipped):
        name = clean_name(written)
        check_name(name)
        check_entry(name, entry)
        if entry.is_dir() or is_hidden(name):
            continue
        if name.casefold() in names:
            raise FilesRefused(name, "is in the ZIP file twice; remove one of the two.")
        names.add(name.casefold())
        if len(files) == MOST_FILES:
            raise FilesRefused("", f"the ZIP file has too many files; the limit is {MOST_FILES}.")
        # The declared size of the entry may be false, so do not decompress more than the limit.
        with zipped.open(entry) as stream:
            unzipped = stream.read(min(LARGEST_FILE, left) + 1)
        check_file_size(name, len(unzipped))
        if (left := left - len(unzipped)) < 0:
            raise FilesRefused(
                "", f"the files are too large; the limit is {MOST_BYTES:,} bytes in total."
            )
        files[name] = unzipped
    return files


def check_name(name: str) -> None:
    """Raise `FilesRefused` if the path of a ZIP entry is invalid or points outside the ZIP file."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name.split("/")[0]:
        raise FilesRefused(name[:200], "is outside of the ZIP file; use a path inside it.")
    if problem := file_name_problem(name.removesuffix("/")):
        raise FilesRefused(ascii(name[:200]), problem)


def check_entry(name: str, entry: zipfile.ZipInfo) -> None:
    """Raise `FilesRefused` if a ZIP entry is a symbolic link, encrypted or too large."""
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise FilesRefused(name, "is a link; add the file itself to the ZIP file.")
    if entry.flag_bits & 1:
        raise FilesRefused(name, "is encrypted; create the ZIP file without a password.")
    check_file_size(name, entry.file_size)


def is_hidden(name: str) -> bool:
    """Return True for hidden files and folders, and for files that macOS adds to ZIP files."""
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)


def applications_in(files: Mapping[str, bytes], name: str = "") -> dict[str, dict[str, bytes]]:
    """Return the files of each application, by slug and then by path. The paths must have the
    layout that the command `export_content` creates.

    The folder `application/` may be missing if there is only one application. The slug is then the
    name of the application's folder, or `name`. Raises `FilesRefused` if a file belongs to no
    application.
    """
    holders = sorted(str(PurePosixPath(path).parent) for path in files if is_document(path))
    if not holders:
        raise FilesRefused("", f"the files contain no {DOCUMENT_FILE}; add one.")
    found: dict[str, dict[str, bytes]] = {}
    for holder in holders:
        slug = PurePosixPath(holder).name or name
        if slug in found:
            raise FilesRefused(
                holder, f"the files contain the application {slug!r} twice; remove one of the two."
            )
        found[slug] = {}
    for path, content in sorted(files.items()):
        above = [holder for holder in holders if PurePosixPath(path).is_relative_to(holder)]
        if len(above) != 1:
            raise FilesRefused(
                path, f"is not in a folder with an {DOCUMENT_FILE}; move it into one."
            )
        beside = PurePosixPath(path).relative_to(above[0]).as_posix()
        found[PurePosixPath(above[0]).name or name][beside] = content
    return found


def is_document(path: str) -> bool:
    return PurePosixPath(path).name == DOCUMENT_FILE


def zip_answer(slug: str, files: Mapping[str, bytes]) -> HttpResponse:
    """Return a response with the application's files as a ZIP file."""
    headers = {"Content-Disposition": f'attachment; filename="{slug}.zip"'}
    return HttpResponse(archive(files), content_type="application/zip", headers=headers)
