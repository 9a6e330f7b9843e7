"""Combines predefined content from several layers: directories of files, and the database on top.

An item replaces the item of the same kind and name in lower layers. The admin also shows the
replaced items.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from apps.catalog.content.folders import FOLDERS, Mark, marks_of, paths_of, read_item
from apps.catalog.content.items import (
    CONFIGURATION,
    ItemKind,
    LayerItem,
    object_of,
    read_item_text,
    reason,
)

logger = logging.getLogger(__name__)

MOST_CONTENTS = 64
"""The maximum number of entries in each cache whose keys are `Content` objects. One entry is for
the installed content, the others are for published versions.
"""
MOST_LISTED = 12
"""An error message about an unknown name lists up to this many known names if none is similar."""

RowStamp = tuple[int, int, int]
"""The number of rows in the table, the sum of their versions, and the newest ID. Every change to a
row changes the stamp.
"""

NO_ROWS: RowStamp = (0, 0, 0)


@dataclass(frozen=True, slots=True)
class ContentRows:
    """The predefined items in the database by row ID, each with the version of its row."""

    by_id: Mapping[int, tuple[int, LayerItem]] = field(default_factory=dict)
    stamp: RowStamp = NO_ROWS

    @property
    def items(self) -> Iterator[LayerItem]:
        return (item for _, item in self.by_id.values())


@dataclass(frozen=True, eq=False)
class Content:
    """The predefined content of all layers."""

    layers: tuple[Path, ...]
    stacks: Mapping[ItemKind, Mapping[str, tuple[LayerItem, ...]]]
    """The definitions of each item, from the lowest layer to the highest. The last one applies."""
    configuration: Mapping[str, Any]
    """The default configuration of new applications."""
    problems: tuple[str, ...]
    """The errors in the default configuration."""
    missing: tuple[Path, ...]
    """The directories that do not exist."""
    marks: Mapping[str, Mark] = field(repr=False)
    rows: ContentRows = field(repr=False)

    @cached_property
    def items(self) -> Mapping[ItemKind, Mapping[str, LayerItem]]:
        """Return the items in use, by kind and name."""
        return {
            kind: {name: stack[-1] for name, stack in named.items()}
            for kind, named in self.stacks.items()
        }

    def near(self, kind: ItemKind, name: str) -> str:
        """Return the end of an error message about an unknown name: similar names or, if there are
        none, the first known names.
        """
        names = self.items[kind]
        if close := get_close_matches(name[:100], names, n=3, cutoff=0.5):
            return f"; did you mean {' or '.join(map(repr, close))}?"
        if not names:
            return "; there are none."
        more = ", …" if len(names) > MOST_LISTED else "."
        return f"; there are {', '.join(map(repr, sorted(names)[:MOST_LISTED]))}{more}"


def read_layers(
    directories: Sequence[Path], rows: ContentRows | None = None, before: Content | None = None
) -> Content:
    """Read all predefined content. Later directories override earlier ones, and rows override all
    directories. Never raises.

    `before` is the previous content. Files that have not changed since then are not read again.
    """
    marks = marks_of(directories)  # Read first, so that the next check notices later changes.
    rows = rows or ContentRows()
    known = unchanged_items(before, marks)
    stacks: dict[ItemKind, dict[str, tuple[LayerItem, ...]]] = {kind: {} for kind in FOLDERS}
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


def unchanged_items(before: Content | None, marks: Mapping[str, Mark]) -> Mapping[str, LayerItem]:
    """Return the items whose files have not changed since `before`, by path. Skills have several
    files, so they are omitted and always read again.
    """
    if before is None:
        return {}
    items = (item for named in before.stacks.values() for stack in named.values() for item in stack)
    return {
        item.location: item
        for item in items
        if item.kind != "skill"
        and item.location in marks
        and marks[item.location] == before.marks.get(item.location)
    }


def directory_items(directory: Path, known: Mapping[str, LayerItem]) -> Iterator[LayerItem]:
    for kind in FOLDERS:
        for path in paths_of(kind, directory):
            yield known.get(str(path)) or read_item(kind, path, directory)


def read_configuration(directories: Iterable[Path]) -> tuple[dict[str, Any], list[str]]:
    """Merge the default configurations from all directories. Also return the errors in the files."""
    configuration: dict[str, Any] = {}
    problems = []
    for directory in directories:
        path = directory / CONFIGURATION
        try:
            configuration |= object_of(read_item_text(path))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            logger.error("Failed to read the configuration %s: %s", path, reason(error))
            problems.append(f"{path}: {reason(error)}")
    return configuration, problems
