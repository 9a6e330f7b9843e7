"""Reads the files of a directory, without following links to files outside it."""

from collections.abc import Iterator
from pathlib import Path

from apps.catalog.content.items import LARGEST_FILE, reason

MOST_FILES = 500
"""The maximum number of files of an application. Each of its skills can have up to 200 files."""
MOST_BYTES = 16 * 1024 * 1024
DEEPEST_FOLDER = 8


class FilesRefused(ValueError):
    """Raised if files are rejected. `file` is the path of the rejected file, or "" if all files are
    rejected.
    """

    def __init__(self, file: str, message: str) -> None:
        super().__init__(f"{file}: {message}" if file else message)


def read_folder(folder: Path, root: Path) -> dict[str, bytes]:
    """Return the contents of the files below the folder, by path. Links to files in `root` are
    followed.

    Raises `FilesRefused`.
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
    """Raise `FilesRefused` if the file is larger than the limit. `size` is in bytes."""
    if size > LARGEST_FILE:
        message = f"the file has {size:,} bytes; the limit is {LARGEST_FILE:,}."
        raise FilesRefused(name, message)


def paths_below(folder: Path, root: Path, depth: int = 0) -> Iterator[Path]:
    """Yield the files of a folder, sorted by name, without hidden files. Raises `FilesRefused`."""
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
                "is a link to a target outside of the directory; replace it with the file itself.",
            )
        if path.is_dir():
            yield from paths_below(path, root, depth + 1)
        else:
            yield path
