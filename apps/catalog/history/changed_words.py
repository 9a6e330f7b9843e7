"""Marks the words that differ between a removed line and the line that replaced it."""

import re
from difflib import SequenceMatcher
from typing import NamedTuple

MOST_WORDS = 1_000
"""Longer lines are not compared by word, because the comparison takes quadratic time."""
LEAST_ALIKE = 0.5
"""Lines with less in common than this ratio are different lines, not edited ones."""


class Run(NamedTuple):
    """Consecutive words of a line."""

    is_changed: bool
    text: str


def changed_words(before: str, after: str) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
    """Return both lines as runs of equal and changed words, or empty tuples if they have little in
    common.
    """
    old, new = _tokens.findall(before), _tokens.findall(after)
    if max(len(old), len(new)) > MOST_WORDS:
        return (), ()
    matcher = SequenceMatcher(_is_space, old, new, autojunk=False)
    if matcher.quick_ratio() < LEAST_ALIKE or matcher.ratio() < LEAST_ALIKE:
        return (), ()
    runs_before: list[Run] = []
    runs_after: list[Run] = []
    for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        runs_before.append(Run(tag != "equal", "".join(old[old_start:old_end])))
        runs_after.append(Run(tag != "equal", "".join(new[new_start:new_end])))
    return _with_text(runs_before), _with_text(runs_after)


def _with_text(runs: list[Run]) -> tuple[Run, ...]:
    return tuple(run for run in runs if run.text)


def _is_space(token: str) -> bool:
    return token.isspace()


_tokens = re.compile(r"\w+|\s+|[^\w\s]")
