"""Predefined content by layers: directories of files, and the rows of the database above them.

A layer replaces items of the ones below it as a whole, by kind and name. Nothing of the ones below
is forgotten: whoever edits content wants to see what theirs replaces.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from apps.catalog.content.folders import (
    FOLDERS,
    Mark,
    marks_of,
    paths_of,
    read_item,
)
from apps.catalog.content.items import CONFIGURATION, Item, Kind, object_of, reason
from apps.catalog.content.texts import read_text

logger = logging.getLogger(__name__)

MOST_LISTED = 12
"""Names that are told when none is like the one that was looked for."""

RowStamp = tuple[int, int, int]
"""How many rows, the sum of their versions, the newest id: what differs when any row has changed."""

NO_ROWS: RowStamp = (0, 0, 0)


@dataclass(frozen=True, slots=True)
class Rows:
    """The items of the database, and by the id of its row the version that each was read from."""

    known: Mapping[int, tuple[int, Item]] = field(default_factory=dict)
    stamp: RowStamp = NO_ROWS

    @property
    def items(self) -> Iterator[Item]:
        return (item for _, item in self.known.values())


@dataclass(frozen=True, eq=False)
class Content:
    """`stacks` has each item in all its layers, the lowest first; the last one is in force.

    `configuration` is what a new application begins with; `problems` are of no single item;
    `missing` are directories that are not there. `marks` tells of files when they last changed.
    """

    layers: tuple[Path, ...]
    stacks: Mapping[Kind, Mapping[str, tuple[Item, ...]]]
    configuration: Mapping[str, Any]
    problems: tuple[str, ...]
    missing: tuple[Path, ...]
    marks: Mapping[str, Mark] = field(repr=False)
    rows: Rows = field(repr=False)

    @cached_property
    def items(self) -> Mapping[Kind, Mapping[str, Item]]:
        """What is in force."""
        return {
            kind: {name: stack[-1] for name, stack in named.items()}
            for kind, named in self.stacks.items()
        }

    def near(self, kind: Kind, name: str) -> str:
        """The end of a sentence about an unknown name: what is there instead."""
        names = self.items[kind]
        if close := get_close_matches(name[:100], names, n=3, cutoff=0.5):
            return f"; did you mean {' or '.join(map(repr, close))}?"
        if not names:
            return "; there are none."
        more = ", …" if len(names) > MOST_LISTED else "."
        return f"; there are {', '.join(map(repr, sorted(names)[:MOST_LISTED]))}{more}"


def read_layers(
    directories: Sequence[Path], rows: Rows | None = None, before: Content | None = None
) -> Content:
    """Everything in the directories and rows, later ones winning; nothing makes this fail.

    Files that have not changed since `before` are not read again.
    """
    marks = marks_of(directories)  # taken first: what changes meanwhile is read again
    rows = rows or Rows()
    known = known_items(before, marks)
    missing = tuple(path for path in directories if not path.is_dir())
    stacks: dict[Kind, dict[str, tuple[Item, ...]]] = {kind: {} for kind in FOLDERS}
    for item in (*(i for path in directories for i in read_directory(path, known)), *rows.items):
        named = stacks[item.kind]
        named[item.name] = (*named.get(item.name, ()), item)
    configuration, problems = read_configuration(directories)
    return Content(
        tuple(directories),
        {kind: dict(sorted(named.items())) for kind, named in stacks.items()},
        configuration,
        tuple(problems),
        missing,
        marks,
        rows,
    )


def known_items(before: Content | None, marks: Mapping[str, Mark]) -> Mapping[str, Item]:
    """By their places, the items of single files that are as they were."""
    if before is None:
        return {}
    items = (item for named in before.stacks.values() for stack in named.values() for item in stack)
    return {
        item.place: item
        for item in items
        if item.kind != "skill"
        and item.place in marks
        and marks[item.place] == before.marks.get(item.place)
    }


def read_directory(directory: Path, known: Mapping[str, Item]) -> Iterator[Item]:
    for kind in FOLDERS:
        for path in paths_of(kind, directory):
            yield known.get(str(path)) or read_item(kind, path, directory)


def read_configuration(directories: Iterable[Path]) -> tuple[dict[str, Any], list[str]]:
    """The configuration of all layers, joined key by key, and what of it cannot be used."""
    configuration: dict[str, Any] = {}
    problems = []
    for directory in directories:
        path = directory / CONFIGURATION
        try:
            configuration |= object_of(read_text(path))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            logger.error("%s cannot be used: %s", path, reason(error))
            problems.append(f"{path}: {reason(error)}")
    return configuration, problems
