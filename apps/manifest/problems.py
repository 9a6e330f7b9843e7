"""Problems of a document: a message, and the place that it is about."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

ROOT = "$"
"""The path of the whole document."""
MOST_PROBLEMS = 100

_plain = re.compile(r"[A-Za-z_][\w-]*", re.ASCII).fullmatch
_LONGEST_KEY = 80


@dataclass(frozen=True, slots=True)
class Problem:
    """`path` is a place such as `tool_sets[2].tools[0].name`; `message` says what to write there."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class DocumentInvalid(Exception):
    """`problems` has one entry for each mistake of a document."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def cut(problems: list[Problem]) -> tuple[Problem, ...]:
    """At most `MOST_PROBLEMS`, and then one more with the number of the others."""
    rest = len(problems) - MOST_PROBLEMS
    if rest <= 0:
        return tuple(problems)
    shown = problems[:MOST_PROBLEMS]
    return (*shown, Problem(shown[-1].path, f"and {rest} more problems after this one"))


def join(path: str, part: str | int) -> str:
    """The path of a member. Unusual keys are quoted, very long ones are cut."""
    if isinstance(part, int):
        return f"{path}[{part}]"
    if len(part) > _LONGEST_KEY:
        part = part[:_LONGEST_KEY] + "…"
    if not _plain(part):
        return f"{path}[{json.dumps(part, ensure_ascii=not part.isprintable())}]"
    return f"{path}.{part}" if path else part


def write(place: Iterable[str | int]) -> str:
    """The path of a place that is given as keys and indexes."""
    return reduce(join, place, "") or ROOT
