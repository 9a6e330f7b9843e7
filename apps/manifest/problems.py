"""What is wrong with a document, and where."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """`path` is the place in the document, `message` what is wrong there and what to write."""

    path: str
    message: str


MOST_PROBLEMS = 100


def cut(problems: list[Problem]) -> tuple[Problem, ...]:
    """At most `MOST_PROBLEMS`; the last one then tells how many there are besides."""
    rest = len(problems) - MOST_PROBLEMS
    if rest <= 0:
        return tuple(problems)
    shown = problems[:MOST_PROBLEMS]
    return (*shown, Problem(shown[-1].path, f"and {rest} more problems after this one"))
