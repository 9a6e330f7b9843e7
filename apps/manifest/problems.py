"""Defines the problems in a document. Each has a path and a message."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

ROOT = "$"
"""The path of problems that concern the whole document."""
MOST_PROBLEMS = 100

_plain = re.compile(r"[A-Za-z_][\w-]*", re.ASCII).fullmatch
_LONGEST_KEY = 80


@dataclass(frozen=True, slots=True)
class Problem:
    """A mistake in a document."""

    path: str
    """The location of the mistake, such as `tool_sets[2].tools[0].name`."""
    message: str
    """The mistake, and how to fix it."""

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class DocumentInvalid(Exception):
    """Raised if a document is invalid, with one entry in `problems` per mistake."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def cut_problems(problems: list[Problem]) -> tuple[Problem, ...]:
    """Return up to `MOST_PROBLEMS` problems. If some are omitted, a last problem states their
    number.
    """
    rest = len(problems) - MOST_PROBLEMS
    if rest <= 0:
        return tuple(problems)
    shown = problems[:MOST_PROBLEMS]
    return (*shown, Problem(shown[-1].path, f"and {rest} more problems after this one"))


def join_path(path: str, part: str | int) -> str:
    """Return the path of a member or item of the value at `path`. Quote unusual keys, and truncate
    very long ones.
    """
    if isinstance(part, int):
        return f"{path}[{part}]"
    if len(part) > _LONGEST_KEY:
        part = part[:_LONGEST_KEY] + "…"
    if not _plain(part):
        return f"{path}[{json.dumps(part, ensure_ascii=not part.isprintable())}]"
    return f"{path}.{part}" if path else part


def write_path(place: Iterable[str | int]) -> str:
    """Convert a sequence of keys and indexes to a path."""
    return reduce(join_path, place, "") or ROOT
