"""Predefined content by layers: directories of files, and the rows of the database above them.

An item replaces the whole item of its kind and name in the layers below. The lower ones are kept
too, because editors show them.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from apps.catalog.content.folders import FOLDERS, Mark, marks_of, paths_of, read_item
from apps.catalog.content.items import CONFIGURATION, Item, ItemKind, object_of, read_text, reason

logger = logging.getLogger(__name__)

MOST_CONTENTS = 64
"""Contents whose items are kept as they are used: the installed one, and those of published versions."""
MOST_LISTED = 12
"""Names in the message about an unknown one, if none is similar."""

RowStamp = tuple[int, int, int]
"""Number of rows, sum of their versions, newest id; any change of a row changes one of them."""

NO_ROWS: RowStamp = (0, 0, 0)


@dataclass(frozen=True, slots=True)
class Rows:
    """The items of the database, by id of the row, each with the version that was read."""

    known: Mapping[int, tuple[int, Item]] = field(default_factory=dict)
    stamp: RowStamp = NO_ROWS

    @property
    def items(self) -> Iterator[Item]:
        return (item for _, item in self.known.values())


@dataclass(frozen=True, eq=False)
class Content:
    """`stacks` has each item in all its layers, the lowest first; the last one is in force.

    `configuration` is the start of new applications, `problems` are its mistakes, `missing` are
    layers without a directory.
    """

    layers: tuple[Path, ...]
    stacks: Mapping[ItemKind, Mapping[str, tuple[Item, ...]]]
    configuration: Mapping[str, Any]
    problems: tuple[str, ...]
    missing: tuple[Path, ...]
    marks: Mapping[str, Mark] = field(repr=False)
    rows: Rows = field(repr=False)

    @cached_property
    def items(self) -> Mapping[ItemKind, Mapping[str, Item]]:
        """The items in force, by kind and name."""
        return {
            kind: {name: stack[-1] for name, stack in named.items()}
            for kind, named in self.stacks.items()
        }

    def near(self, kind: ItemKind, name: str) -> str:
        """The end of a sentence about an unknown name: similar ones, else the first ones."""
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
    """The content of the directories and rows, later ones winning; never fails.

    Files that have not changed since `before` are not read again.
    """
    marks = marks_of(directories)  # taken first: files that change meanwhile are read next time
    rows = rows or Rows()
    known = known_items(before, marks)
    stacks: dict[ItemKind, dict[str, tuple[Item, ...]]] = {kind: {} for kind in FOLDERS}
    for item in (*(i for path in directories for i in directory_items(path, known)), *rows.items):
        named = stacks[item.kind]
        named[item.name] = (*named.get(item.name, ()), item)
    configuration, problems = read_configuration(directories)
    return Content(
        tuple(directories),
        {kind: dict(sorted(named.items())) for kind, named in stacks.items()},
        configuration,
        tuple(problems),
        tuple(path for path in directories if not path.is_dir()),
        marks,
        rows,
    )


def known_items(before: Content | None, marks: Mapping[str, Mark]) -> Mapping[str, Item]:
    """The items of unchanged single files, by their places."""
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


def directory_items(directory: Path, known: Mapping[str, Item]) -> Iterator[Item]:
    for kind in FOLDERS:
        for path in paths_of(kind, directory):
            yield known.get(str(path)) or read_item(kind, path, directory)


def read_configuration(directories: Iterable[Path]) -> tuple[dict[str, Any], list[str]]:
    """The configuration of all layers, joined key by key, and the problems of unusable files."""
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
