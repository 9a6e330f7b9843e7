"""One layer as it lies in a directory: `prompt/x.md`, `tool/x.json`, `skills/x/SKILL.md`, …"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from apps.catalog.content.items import CONFIGURATION, Item, Kind, item_of, reason
from apps.catalog.content.texts import read_text
from apps.manifest.skill_document import MOST_FILES, SKILL_FILE, is_offered

FOLDERS: Mapping[Kind, str] = {
    "prompt": "prompt",
    "tool": "tool",
    "toolset": "toolset",
    "skill": "skills",
}
SUFFIXES: Mapping[Kind, str] = {"prompt": ".md", "tool": ".json", "toolset": ".json"}

Mark = tuple[int, int, int]
"""Time of change, size and inode of a file: what differs when it has changed."""


def paths_of(kind: Kind, directory: Path) -> list[Path]:
    """The file of each item of a kind, or its directory, by name."""
    folder = directory / FOLDERS[kind]
    if kind == "skill":
        found = (path for path in folder.glob("*") if path.is_dir())
    else:
        found = folder.glob(f"*{SUFFIXES[kind]}")
    return sorted(path for path in found if not path.name.startswith("."))


def files_of(skill: Path) -> list[Path]:
    """Of the files of a skill those that a model may read."""
    return sorted(
        path
        for path in skill.rglob("*")
        if is_offered(path.relative_to(skill).as_posix()) and path.is_file()
    )


def read_item(kind: Kind, path: Path, directory: Path) -> Item:
    name, layer, place = path.stem, str(directory), str(path)
    try:
        if kind == "skill":
            return read_skill(path, layer)
        return item_of(kind, name, layer, place, read_text(path))
    except (OSError, ValueError) as error:
        return Item(kind, name, layer, place, problem=reason(error))


def read_skill(directory: Path, layer: str) -> Item:
    """Raises OSError and ValueError for a SKILL.md that cannot be read."""
    name, place = directory.name, str(directory)
    try:
        text = read_text(directory / SKILL_FILE)
    except FileNotFoundError:
        problem = f"there is no {SKILL_FILE} in the directory."
        return Item("skill", name, layer, place, problem=problem)
    return item_of("skill", name, layer, place, text, dict(texts_beside(directory)))


def texts_beside(skill: Path) -> Iterator[tuple[str, str]]:
    """The texts of a skill by their paths in it, one more than there may be at most."""
    for _, path in zip(range(MOST_FILES + 1), files_of(skill), strict=False):
        try:
            yield path.relative_to(skill).as_posix(), read_text(path)
        except (OSError, ValueError):
            continue


def marks_of(directories: Iterable[Path]) -> dict[str, Mark]:
    """By path, of every file of the layers. Taken every second, so without a `Path` for each."""
    marks: dict[str, Mark] = {}
    for directory in directories:
        for kind in FOLDERS:
            folder = str(directory / FOLDERS[kind])
            marks.update(marks_below(folder) if kind == "skill" else marks_in(folder))
        configuration = directory / CONFIGURATION
        with suppress(OSError):
            marks[str(configuration)] = mark_of(configuration.stat())
    return marks


def marks_in(folder: str) -> Iterator[tuple[str, Mark]]:
    """Of the files of one folder; what is gone meanwhile is seen by the next look."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith("."):
                with suppress(OSError):
                    yield entry.path, mark_of(entry.stat())


def marks_below(folder: str) -> Iterator[tuple[str, Mark]]:
    for parent, _, _ in os.walk(folder):
        yield from marks_in(parent)


def mark_of(found: os.stat_result) -> Mark:
    return found.st_mtime_ns, found.st_size, found.st_ino
