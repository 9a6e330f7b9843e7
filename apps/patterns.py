"""Regular expressions that users and servers write, compiled within bounds.

`regex` copies a repeated part once for each repetition that is required, so a few characters can
take gigabytes: `(?:(?:(?:a{1000}){1000}){1000})`. The size is therefore computed from the parsed
pattern before it is compiled. Searches have a time limit: pass `timeout` to each of them.
"""

import functools
from typing import Any, cast

import regex

# Not part of the public API of `regex`, which has no other way to parse without compiling.
# `tests/test_patterns.py` fails when a new release moves it.
from regex import _regex_core

core: Any = _regex_core

MOST_STATES = 20_000
"""A pattern of this size takes up to 10 MB and 50 ms to compile, as measured with random patterns."""
MOST_CHARACTERS = 2_000
FOLDED = regex.FULLCASE | regex.IGNORECASE
FOLDED_STATES = 400
"""Added for a node that ignores case in full: a set of characters then also matches the 105
characters that fold to several."""


class PatternRefused(ValueError):
    """A pattern cannot be used; the text says why, in a form that follows "the pattern"."""


@functools.lru_cache(maxsize=256)
def compile_pattern(pattern: str, flags: int = 0) -> regex.Pattern[str]:
    """Raises `PatternRefused`."""
    if len(pattern) > MOST_CHARACTERS:
        raise PatternRefused(f"has {len(pattern):,} characters; write at most {MOST_CHARACTERS:,}")
    try:
        states = size_of(parsed(pattern, flags))
    except RecursionError:
        raise PatternRefused("is nested too deeply; use fewer groups") from None
    except Exception as error:  # besides its own errors, `regex` raises `KeyError` and others
        raise PatternRefused(f"is no regular expression: {error}") from error
    if states > MOST_STATES:
        raise PatternRefused(
            f"repeats so much that it has {states:,} states when it is compiled; at most "
            f"{MOST_STATES:,} are possible. Use smaller numbers of repetitions"
        )
    try:
        return regex.compile(pattern, flags)
    except Exception as error:
        raise PatternRefused(f"is no regular expression: {error}") from error


def states_of(pattern: str) -> int:
    """The size of a pattern. Raises `PatternRefused`."""
    return size_of(parsed(compile_pattern(pattern).pattern, 0))


def parsed(pattern: str, flags: int) -> Any:
    """The tree of a pattern. Raises `regex.error` and others."""
    while True:
        info = core.Info(flags, str, {})
        info.guess_encoding = regex.UNICODE
        source = core.Source(pattern)
        source.ignore_space = bool(info.flags & regex.VERBOSE)
        try:
            return core._parse_pattern(source, info)  # noqa: SLF001
        except core._UnscopedFlagSet:  # noqa: SLF001
            flags = info.global_flags  # one such as (?i), which applies to the whole pattern


def size_of(node: object) -> int:
    if isinstance(node, list | tuple | set | frozenset):
        return sum(map(size_of, node))
    if not isinstance(node, core.RegexBase):
        return 0
    parts = (value for name, value in vars(node).items() if not name.startswith("_"))
    size = 1 + sum(map(size_of, parts))
    if is_folded(node):
        size += FOLDED_STATES
    if isinstance(node, core.GreedyRepeat):
        is_open = node.max_count is None or node.max_count > node.min_count
        size *= max(1, node.min_count + is_open)
    return size


def is_folded(node: Any) -> bool:
    flags = cast("int", getattr(node, "case_flags", 0))
    return flags & FOLDED == FOLDED and not isinstance(node, core.Character)
