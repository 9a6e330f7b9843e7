"""Reads the files of a directory, and rejects links that point outside it."""

from collections.abc import Iterator
from pathlib import Path

from apps.catalog.content.items import LARGEST_FILE, reason

MOST_FILES = 500
"""The maximum number of files in an application. Each of its skills can have up to 200 files."""
MOST_BYTES = 16 * 1024 * 1024
DEEPEST_FOLDER = 8


class FilesRefused(ValueError):
    """Raised if files cannot be read or accepted. `file` is the path of the rejected file, or "" if
    the error concerns all files.
    """

    def __init__(self, file: str, message: str) -> None:
        super().__init__(f"{file}: {message}" if file else message)


def read_folder(folder: Path, root: Path) -> dict[str, bytes]:
    """Return the content of each file in the folder and its subfolders, by path.

    Follows links to targets in `root`. Raises `FilesRefused` if a link points elsewhere, a file is
    unreadable or too large, or there are too many files.
    """
    files: dict[str, bytes] = {}
    size = 0
    for path in paths_below(folder, root.resolve()):
        name = path.relative_to(folder).as_posix()
        if len(files) == MOST_FILES:
            raise FilesRefused("", f"there are too many files; the limit is {MOST_FILES}.")
        try:
            check_file_size(name, path.stat().st_size)
            content = path.read_bytes()
        except OSError as error:
            raise FilesRefused(name, reason(error)) from error
        size += len(content)
        if size > MOST_BYTES:
            raise FilesRefused(
                "", f"the files are too large; the limit is {MOST_BYTES:,} bytes in total."
            )
        files[name] = content
    return files


def check_file_size(name: str, size: int) -> None:
    """Raise `FilesRefused` if `size`, in bytes, exceeds the limit for one file."""
    if size > LARGEST_FILE:
        message = f"the file is {size:,} bytes; the limit is {LARGEST_FILE:,}."
        raise FilesRefused(name, message)


def paths_below(folder: Path, root: Path, depth: int = 0) -> Iterator[Path]:
    """Yield the visible files in a folder and its subfolders, sorted by name. Raises `FilesRefused`
    if a link points outside `root` or folders are nested too deeply.
    """
    if depth > DEEPEST_FOLDER:
        raise FilesRefused(
            folder.name, f"folders are nested too deeply; the limit is {DEEPEST_FOLDER} levels."
        )
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_symlink() and not path.resolve().is_relative_to(root):
            raise FilesRefused(
                path.name,
                "is a link to a file outside of the directory; replace it with the file itself.",
            )
        if path.is_dir():
            yield from paths_below(path, root, depth + 1)
        else:
            yield path
