"""Validates and converts the paths that the model writes, and matches path patterns.

A path that begins with `files/` is the full path of a stored file. Other paths are relative to the
agent's own folder.
"""

import fnmatch
import re
from functools import lru_cache
from urllib.parse import unquote

from apps.errors import InvalidParameter
from apps.workspace.loading.file_locations import ROOT, encode_path, home_path_problem

HOME = frozenset({"", ".", "./", "/"})
"""Spellings that a model uses for the agent's own folder."""
SHOWN = 200
"""Paths are truncated to this many characters in error messages."""


def is_folder(path: str) -> bool:
    return path.endswith("/") or path in HOME


def check_own(parameter: str, path: str) -> None:
    """Raise `InvalidParameter` unless `path` is a valid file path in the agent's own folder."""
    refuse(parameter, path, home_path_problem(path))


def check_file(parameter: str, path: str) -> None:
    """Raise `InvalidParameter` unless `path` is a valid path of a file to read."""
    refuse(parameter, path, readable_problem(path))


def check_folder(parameter: str, path: str) -> None:
    """Raise `InvalidParameter` unless `path` is a valid path of a folder to read, with or without a
    trailing slash.
    """
    if path not in HOME:
        refuse(parameter, path, readable_problem(path.removesuffix("/")))


def readable_problem(path: str) -> str:
    if "://" in path:
        return "it is a URL; use the path of a stored file."
    return home_path_problem(path.removeprefix(ROOT))


def refuse(parameter: str, path: str, problem: str) -> None:
    if problem:
        raise InvalidParameter(parameter, f"{path[:SHOWN]!r} cannot be used: {problem}")


def full_path(home: str, path: str) -> str:
    if path in HOME:
        return home
    return encode_path(path) if path.startswith(ROOT) else f"{home}{encode_path(path)}"


def full_folder(home: str, path: str) -> str:
    return f"{full_path(home, path).rstrip('/')}/"


def shown_path(home: str, path: str) -> str:
    """Return the path for the model: relative if the file is in the agent's own folder."""
    base, parts = home.rstrip("/").split("/"), path.split("/")
    if [*map(unquote, parts[: len(base)])] != [*map(unquote, base)]:
        return path
    return "/".join(map(readable, parts[len(base) :])) or "./"


def readable(segment: str) -> str:
    """Decode a segment of a path, unless the result could be decoded again."""
    plain = unquote(segment)
    return plain if unquote(plain) == plain else segment


def matches_path(path: str, pattern: str) -> bool:
    """Return True if the path matches the pattern.

    `*` and `?` match within a segment, and `**` matches any number of segments. A pattern without a
    slash matches the file name, in any folder.
    """
    parts = path.split("/")
    if "/" not in pattern and pattern != "**":
        return bool(compile_pattern(pattern).fullmatch(parts[-1]))
    # Without backtracking, no pattern takes more than parts x patterns steps.
    consumed = {0}  # The numbers of parts that the patterns so far can match.
    for part_pattern in pattern.split("/"):
        if part_pattern == "**":
            consumed = set(range(min(consumed), len(parts) + 1))
        else:
            name = compile_pattern(part_pattern)
            consumed = {n + 1 for n in consumed if n < len(parts) and name.fullmatch(parts[n])}
        if not consumed:
            return False
    return len(parts) in consumed


@lru_cache(maxsize=64)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(pattern.replace("[", "[[]")))
