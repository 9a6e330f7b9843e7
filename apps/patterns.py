"""Compiles regular expressions from users and servers, and rejects those that would need too much
memory.

`regex` copies a repeated part once per required repetition, so a few characters can need gigabytes:
`(?:(?:(?:a{1000}){1000}){1000})`. The size is therefore computed from the parsed pattern before it
is compiled.

Searches need a time limit too, so pass `timeout` to each search.
"""

import functools
from typing import Any, cast

import regex

# This module is not part of the public API of `regex`, which cannot parse a pattern without
# compiling it. `tests/test_patterns.py` fails if a new release moves it.
from regex import _regex_core

core: Any = _regex_core

MOST_STATES = 20_000
"""The maximum number of states in a compiled pattern. In measurements with random patterns,
compiling this many took up to 10 MB and 50 ms.
"""
MOST_CHARACTERS = 2_000
FOLDED = regex.FULLCASE | regex.IGNORECASE
FOLDED_STATES = 400
"""The number of states to add for each node that ignores case, because such a node also matches the
105 characters that fold to several characters.
"""


class PatternRefused(ValueError):
    """Raised if a pattern cannot be used. The message completes a sentence that begins with "the
    pattern".
    """


@functools.lru_cache(maxsize=256)
def compile_pattern(pattern: str, flags: int = 0) -> regex.Pattern[str]:
    """Compile a pattern. Raises `PatternRefused` if it is invalid or too large."""
    if len(pattern) > MOST_CHARACTERS:
        raise PatternRefused(f"has {len(pattern):,} characters; the limit is {MOST_CHARACTERS:,}")
    try:
        states = size_of(parse_pattern(pattern, flags))
    except RecursionError:
        raise PatternRefused("is nested too deeply; use fewer groups") from None
    except Exception as error:  # `regex` also raises other errors, such as `KeyError`.
        raise PatternRefused(f"is not a regular expression: {error}") from error
    if states > MOST_STATES:
        raise PatternRefused(
            f"has too many repetitions: it compiles to {states:,} states; the limit is "
            f"{MOST_STATES:,}"
        )
    try:
        return regex.compile(pattern, flags)
    except Exception as error:
        raise PatternRefused(f"is not a regular expression: {error}") from error


def states_of(pattern: str) -> int:
    """Return the number of states in a compiled pattern. Raises `PatternRefused` if the pattern is
    invalid or too large.
    """
    return size_of(parse_pattern(compile_pattern(pattern).pattern, 0))


def parse_pattern(pattern: str, flags: int) -> Any:
    """Return the syntax tree of a pattern. Raises an error from the library, such as `regex.error`,
    if the pattern is invalid.
    """
    while True:
        info = core.Info(flags, str, {})
        info.guess_encoding = regex.UNICODE
        source = core.Source(pattern)
        source.ignore_space = bool(info.flags & regex.VERBOSE)
        try:
            return core._parse_pattern(source, info)  # noqa: SLF001
        except core._UnscopedFlagSet:  # noqa: SLF001
            flags = info.global_flags  # A flag such as (?i) applies to the whole pattern.


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
