"""Paths as the model writes them and reads them, and patterns for paths.

A relative path is below the agent's own folder, one that begins with `files/` is the whole path of
a stored file. Paths are checked before anything is asked of a workspace.
"""

import fnmatch
import re
from functools import lru_cache
from urllib.parse import unquote

from apps.errors import InvalidParameter
from apps.workspace.loading.places import ROOT, encoded, home_path_problem

HOME = frozenset({"", ".", "./", "/"})
"""Names of the agent's own folder."""
SHOWN = 200
"""Characters of a path that an error message repeats."""


def is_folder(path: str) -> bool:
    return path.endswith("/") or path in HOME


def check_own(parameter: str, path: str) -> None:
    """A file in the agent's folder. Raises `InvalidParameter`."""
    refuse(parameter, path, home_path_problem(path))


def check_file(parameter: str, path: str) -> None:
    """A file that may be read. Raises `InvalidParameter`."""
    refuse(parameter, path, readable_problem(path))


def check_folder(parameter: str, path: str) -> None:
    """A folder that may be read; it may be named without its slash. Raises `InvalidParameter`."""
    if path not in HOME:
        refuse(parameter, path, readable_problem(path.removesuffix("/")))


def readable_problem(path: str) -> str:
    if "://" in path:
        return "it is a URL; only stored files can be used here."
    return home_path_problem(path.removeprefix(ROOT))


def refuse(parameter: str, path: str, problem: str) -> None:
    if problem:
        raise InvalidParameter(parameter, f"{path[:SHOWN]!r} cannot be used: {problem}")


def full_path(home: str, path: str) -> str:
    if path in HOME:
        return home
    return encoded(path) if path.startswith(ROOT) else f"{home}{encoded(path)}"


def full_folder(home: str, path: str) -> str:
    return f"{full_path(home, path).rstrip('/')}/"


def shown_path(home: str, path: str) -> str:
    """A full path as the model reads it: relative if it is in the agent's folder."""
    base, parts = home.rstrip("/").split("/"), path.split("/")
    if [*map(unquote, parts[: len(base)])] != [*map(unquote, base)]:
        return path
    return "/".join(map(readable, parts[len(base) :])) or "./"


def readable(segment: str) -> str:
    """Decoded, unless it would be decoded once more when it comes back."""
    plain = unquote(segment)
    return plain if unquote(plain) == plain else segment


def matches(path: str, pattern: str) -> bool:
    """`*` and `?` match within a part of a path, `**` any number of parts.

    A pattern without a slash is about the name alone, in any folder.
    """
    parts = path.split("/")
    if "/" not in pattern and pattern != "**":
        return bool(compiled(pattern).fullmatch(parts[-1]))
    # Matched without going back, so that no pattern takes more than parts x patterns steps.
    consumed = {0}  # how many parts the patterns so far can match
    for part_pattern in pattern.split("/"):
        if part_pattern == "**":
            consumed = set(range(min(consumed), len(parts) + 1))
        else:
            name = compiled(part_pattern)
            consumed = {n + 1 for n in consumed if n < len(parts) and name.fullmatch(parts[n])}
        if not consumed:
            return False
    return len(parts) in consumed


@lru_cache(maxsize=64)
def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(pattern.replace("[", "[[]")))
