"""Reads predefined content from a directory, such as `prompt/x.md` or `skills/x/SKILL.md`."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

from apps.catalog.content.items import (
    CONFIGURATION,
    ItemKind,
    LayerItem,
    item_of,
    read_item_text,
    reason,
)
from apps.manifest.markdown.skill_files import MOST_FILES, SKILL_FILE, is_offered

FOLDERS: Mapping[ItemKind, str] = {
    "prompt": "prompt",
    "tool": "tool",
    "toolset": "toolset",
    "skill": "skills",
    "place": "place",
    "agent": "agent",
}
SUFFIXES: Mapping[ItemKind, str] = {
    "prompt": ".md",
    "tool": ".json",
    "toolset": ".json",
    "place": ".md",
    "agent": ".md",
}

Mark = tuple[int, int, int]
"""A file's modification time in nanoseconds, its size and its inode. Every change to the file
changes the mark.
"""


def paths_of(kind: ItemKind, directory: Path) -> list[Path]:
    """Return the sorted paths of all items of this kind in a directory. The path of a skill is its
    folder.
    """
    folder = directory / FOLDERS[kind]
    if kind == "skill":
        found = (path for path in folder.glob("*") if path.is_dir())
    else:
        found = folder.glob(f"*{SUFFIXES[kind]}")
    return sorted(path for path in found if not path.name.startswith("."))


def read_item(kind: ItemKind, path: Path, directory: Path) -> LayerItem:
    name, layer, location = path.stem, str(directory), str(path)
    try:
        if kind == "skill":
            return read_skill(path, layer)
        return item_of(kind, name, layer, location, read_item_text(path))
    except (OSError, ValueError) as error:
        return LayerItem(kind, name, layer, location, problem=reason(error))


def read_skill(directory: Path, layer: str) -> LayerItem:
    """Read the skill in a folder. Raises `OSError` or `ValueError` if its SKILL.md cannot be read."""
    name, location = directory.name, str(directory)
    try:
        text = read_item_text(directory / SKILL_FILE)
    except FileNotFoundError:
        problem = f"the directory contains no {SKILL_FILE}."
        return LayerItem("skill", name, layer, location, problem=problem)
    return item_of("skill", name, layer, location, text, dict(other_texts(directory)))


def other_texts(skill: Path) -> Iterator[tuple[str, str]]:
    """Yield the path and text of each file of a skill, except SKILL.md and files that models cannot
    read. Stop one file past the limit, so that the caller can report the excess.
    """
    found = ((path.relative_to(skill).as_posix(), path) for path in sorted(skill.rglob("*")))
    offered = ((name, path) for name, path in found if is_offered(name) and path.is_file())
    for name, path in islice(offered, MOST_FILES + 1):
        with suppress(OSError, ValueError):
            yield name, read_item_text(path)


def marks_of(directories: Iterable[Path]) -> dict[str, Mark]:
    """Return the mark of each file and folder in the directories, by path."""
    marks: dict[str, Mark] = {}
    for directory in directories:
        paths = [str(directory / CONFIGURATION)]
        for folder in FOLDERS.values():
            for parent, folders, files in os.walk(directory / folder):
                names = (name for name in (*folders, *files) if not name.startswith("."))
                paths += [f"{parent}/{name}" for name in names]
        for path in paths:
            # If a file disappears in the meantime, the next check notices it.
            with suppress(OSError):
                found = os.stat(path)  # noqa: PTH116 it runs every second, a Path costs more
                marks[path] = found.st_mtime_ns, found.st_size, found.st_ino
    return marks
