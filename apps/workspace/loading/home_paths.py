"""Where an agent may write: below its own folder in the caller's files, by relative paths alone."""

from __future__ import annotations

import unicodedata
from urllib.parse import unquote

from apps.workspace.loading.loader import Loader
from apps.workspace.loading.places import ROOT, climbs, encoded


def home_path_problem(path: str) -> str:
    """Why this is no relative path of a file; "" when it is one.

    A path is read as it is written and as it is meant when it is percent-encoded.
    """
    if not path:
        return "it is empty."
    if path.startswith(("/", ROOT)):
        return f"it is relative to your own folder: it begins neither with '/' nor with '{ROOT}'."
    if path.endswith("/"):
        return "it ends with '/', so it names a folder; name a file in it."
    if climbs(path):
        return "'.' and '..' are not possible in it."
    return next(filter(None, map(part_problem, path.split("/"))), "")


def part_problem(part: str) -> str:
    decoded = unquote(part)
    if not decoded.strip():
        return "it has an empty part between two slashes."
    if part != part.rstrip() or decoded != decoded.rstrip():
        return "a part of it ends with white space."
    if "/" in decoded or "\\" in decoded:
        return "a backslash, or an encoded slash, is not possible in it."
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in decoded):
        return "control characters are not possible in it."
    return ""


async def home_path(loader: Loader, path: str) -> str:
    """The whole path, `files/{bucket}/…`, of a relative one that has no problem."""
    home = await loader.files.home()
    return f"{home}{encoded(loader.rules.folder)}{encoded(path)}"
