"""The files of a directory, read without following links out of it."""

from collections.abc import Iterator
from pathlib import Path

from apps.catalog.content.items import LARGEST_FILE, reason

MOST_FILES = 500
"""Of one application; the skills of one can have 200 each."""
MOST_BYTES = 16 * 1024 * 1024
DEEPEST_FOLDER = 8


class FilesRefused(ValueError):
    """`file` is the path of the file that is refused, "" for all of them together."""

    def __init__(self, file: str, message: str) -> None:
        super().__init__(f"{file}: {message}" if file else message)


def read_folder(folder: Path, root: Path) -> dict[str, bytes]:
    """Each file by its path below the folder. Links may lead anywhere in `root`.

    Raises `FilesRefused`.
    """
    files: dict[str, bytes] = {}
    size = 0
    for path in paths_below(folder, root.resolve()):
        name = path.relative_to(folder).as_posix()
        if len(files) == MOST_FILES:
            raise FilesRefused("", f"there are more than {MOST_FILES} files.")
        try:
            check_size(name, path.stat().st_size)
            content = path.read_bytes()
        except OSError as error:
            raise FilesRefused(name, reason(error)) from error
        size += len(content)
        if size > MOST_BYTES:
            raise FilesRefused("", f"the files have more than {MOST_BYTES:,} bytes together.")
        files[name] = content
    return files


def check_size(name: str, size: int) -> None:
    """Raises `FilesRefused`."""
    if size > LARGEST_FILE:
        message = f"the file has {size:,} bytes; at most {LARGEST_FILE:,} are possible."
        raise FilesRefused(name, message)


def paths_below(folder: Path, root: Path, depth: int = 0) -> Iterator[Path]:
    """The files of a folder in the order of their names, without hidden ones."""
    if depth > DEEPEST_FOLDER:
        raise FilesRefused(folder.name, f"folders are nested deeper than {DEEPEST_FOLDER} levels.")
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_symlink() and not path.resolve().is_relative_to(root):
            raise FilesRefused(path.name, "is a link that leads out of the directory.")
        if path.is_dir():
            yield from paths_below(path, root, depth + 1)
        else:
            yield path
