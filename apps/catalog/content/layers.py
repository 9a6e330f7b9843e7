"""Predefined content as it lies in directories: prompts, tools and toolsets, one file each.

Directories are layers: a later one replaces files of an earlier one as a whole, by their names.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from apps.catalog.content.texts import read_text
from apps.catalog.json_text import JSONTextInvalid, parse
from apps.manifest.documents import document_problems

logger = logging.getLogger(__name__)

Kind = Literal["prompt", "tool", "toolset"]

SUFFIXES: Mapping[Kind, str] = {"prompt": ".md", "tool": ".json", "toolset": ".json"}
CONFIGURATION = "default_configuration.json"
MOST_LISTED = 12
"""Names that are told when none is like the one that was looked for."""

Stamp = tuple[tuple[str, int, int, int], ...]
"""Path, time of change, size and inode of every file: what differs when anything has changed."""


@dataclass(frozen=True, slots=True)
class Item:
    """One file: a text, or a JSON object. Where it cannot be used, `problem` says why."""

    kind: Kind
    name: str
    path: Path
    value: Any = None
    problem: str = ""

    @property
    def file(self) -> str:
        return f"{self.kind}/{self.path.name}"


@dataclass(frozen=True, slots=True)
class Content:
    """`configuration` is what a new application begins with; `problems` are of no single item."""

    items: Mapping[Kind, Mapping[str, Item]]
    configuration: Mapping[str, Any]
    problems: tuple[str, ...]
    stamp: Stamp

    def near(self, kind: Kind, name: str) -> str:
        """The end of a sentence about an unknown name: what is there instead."""
        names = self.items[kind]
        if close := get_close_matches(name[:100], names, n=3, cutoff=0.5):
            return f"; did you mean {' or '.join(map(repr, close))}?"
        if not names:
            return "; there are none."
        more = ", …" if len(names) > MOST_LISTED else "."
        return f"; there are {', '.join(map(repr, sorted(names)[:MOST_LISTED]))}{more}"


def read_layers(directories: Sequence[Path]) -> Content:
    """Everything in the directories, later ones winning; nothing in them makes this fail."""
    stamp = stamp_of(directories)  # taken first: what changes meanwhile is read again
    problems = [f"{path}: there is no such directory." for path in directories if not path.is_dir()]
    items: dict[Kind, Mapping[str, Item]] = {
        kind: {item.name: item for path in directories for item in read_folder(kind, path)}
        for kind in SUFFIXES
    }
    configuration: dict[str, Any] = {}
    for directory in directories:
        path = directory / CONFIGURATION
        try:
            configuration |= read_object(path)
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            logger.error("%s cannot be used: %s", path, reason(error))
            problems.append(f"{path}: {reason(error)}")
    return Content(items, configuration, tuple(problems), stamp)


def read_folder(kind: Kind, directory: Path) -> Iterator[Item]:
    read: Callable[[Path], Any] = read_prompt if kind == "prompt" else read_object
    for path in files_of(kind, directory):
        try:
            yield Item(kind, path.stem, path, read(path))
        except (OSError, ValueError) as error:
            yield Item(kind, path.stem, path, problem=reason(error))


def files_of(kind: Kind, directory: Path) -> Iterable[Path]:
    found = (directory / kind).glob(f"*{SUFFIXES[kind]}")
    return sorted(path for path in found if not path.name.startswith("."))


def read_prompt(path: Path) -> str:
    """Raises `OSError`, `ValueError`."""
    text = read_text(path).strip()
    if not text:
        raise ValueError("the file is empty.")
    return text


def read_object(path: Path) -> dict[str, Any]:
    """Raises `OSError`, `ValueError`."""
    document = parse(read_text(path))
    if problems := document_problems(document):
        raise ValueError(f"{problems[0].path}: {problems[0].message}.")
    assert isinstance(document, dict)  # noqa: S101 document_problems refuses everything else
    return document


def reason(error: OSError | ValueError | JSONTextInvalid) -> str:
    """What is wrong with a file, without its path."""
    return f"{error.strerror}." if isinstance(error, OSError) else str(error)


def stamp_of(directories: Iterable[Path]) -> Stamp:
    return tuple(
        mark
        for directory in directories
        for path in (
            *(path for kind in SUFFIXES for path in files_of(kind, directory)),
            directory / CONFIGURATION,
        )
        for mark in mark_of(path)
    )


def mark_of(path: Path) -> Iterator[tuple[str, int, int, int]]:
    try:
        found = path.stat()
    except OSError:
        return  # gone, or never there: the next look sees what has become of it
    yield str(path), found.st_mtime_ns, found.st_size, found.st_ino
