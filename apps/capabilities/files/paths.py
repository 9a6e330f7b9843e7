"""Paths as the model writes them, and as it is told them.

A relative path is below the agent's own folder, one that begins with `files/` is the whole path of
a stored file. Everything here is judged before anybody is asked.
"""

from __future__ import annotations

from urllib.parse import unquote

from apps.errors import InvalidParameter
from apps.workspace.loading.home_paths import home_path_problem
from apps.workspace.loading.places import ROOT, encoded

HOME = frozenset({"", ".", "./", "/"})
"""How the agent's own folder is called."""
SHOWN = 200
"""Characters of a path that a message repeats."""


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


def whole(home: str, path: str) -> str:
    """The whole path of one that was checked."""
    if path in HOME:
        return home
    return encoded(path) if path.startswith(ROOT) else f"{home}{encoded(path)}"


def whole_folder(home: str, path: str) -> str:
    return f"{whole(home, path).rstrip('/')}/"


def told(home: str, path: str) -> str:
    """A whole path as the model reads it: relative in its folder, as it is elsewhere."""
    base, parts = home.rstrip("/").split("/"), path.split("/")
    if [*map(unquote, parts[: len(base)])] != [*map(unquote, base)]:
        return path
    return "/".join(map(readable, parts[len(base) :])) or "./"


def readable(segment: str) -> str:
    """Decoded, unless it would be decoded once more when it comes back."""
    plain = unquote(segment)
    return plain if unquote(plain) == plain else segment
