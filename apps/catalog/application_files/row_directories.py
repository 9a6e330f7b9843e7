"""Reads directories of importable files: JSON files, and folders that each contain one application.
Reports the errors in all files together.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from apps.catalog.application_files.file_kinds import APPLICATION, KINDS
from apps.catalog.application_files.folders import FilesRefused, read_folder
from apps.catalog.application_files.reader import read_application
from apps.catalog.application_files.row_files import ContentFile, ContentInvalid, read_content_file


def read_directory(directory: Path) -> list[ContentFile]:
    """Read all files in the directory, deployments first. Raises `ContentInvalid` with the errors
    in all files.
    """
    folders = [(kind, directory / kind.name) for kind in KINDS]
    if not any(folder.is_dir() for _, folder in folders):
        names = " or ".join(f"{kind.name}/" for kind in KINDS)
        raise ContentInvalid((f"{directory}: the directory contains no {names}.",))
    items: list[ContentFile] = []
    problems: list[str] = []
    for kind, folder in folders:
        for path in sorted(folder.glob("*.json")):
            try:
                items.append(read_content_file(kind, path))
            except ContentInvalid as error:
                problems += error.problems
    for folder in application_folders(directory):
        try:
            items.append(read_application(folder.name, read_folder_files(folder, directory)))
        except ContentInvalid as error:
            problems += error.problems
    problems += duplicates(items)
    if problems:
        raise ContentInvalid(tuple(problems))
    return items


def application_folders(directory: Path) -> list[Path]:
    """Return the folders in `application/`, one for each application."""
    found = (directory / APPLICATION.name).glob("[!.]*/")
    return sorted(path for path in found if path.suffix != ".json" and path.is_dir())


def read_folder_files(folder: Path, directory: Path) -> dict[str, bytes]:
    """Return the files in an application's folder, by path. Raises `ContentInvalid` if they cannot
    be read.
    """
    place = f"{APPLICATION.name}/{folder.name}"
    try:
        return read_folder(folder, directory)
    except FilesRefused as error:
        raise ContentInvalid((f"{place}: {error}",)) from error
    except OSError as error:
        raise ContentInvalid((f"{place}: {error.strerror}.",)) from error


def read_directories(directories: Sequence[Path]) -> list[ContentFile]:
    """Read all files in several directories, deployments first. A file replaces the file with the
    same key in an earlier directory.

    Only the first directory must contain files. Raises `ContentInvalid` if a file is invalid.
    """
    first, *further = directories
    found = read_directory(first)
    for directory in further:
        if any((directory / kind.name).is_dir() for kind in KINDS):
            found += read_directory(directory)
    winners = {(item.kind.name, item.key): item for item in found}
    return sorted(winners.values(), key=lambda item: KINDS.index(item.kind))


def duplicates(items: list[ContentFile]) -> Iterator[str]:
    first: dict[tuple[str, str], str] = {}
    for item in items:
        other = first.setdefault((item.kind.name, item.key), item.file)
        if other != item.file:
            yield f"{item.file}: {item.kind.key}: {item.key!r} is already in {other}; remove one of them."
