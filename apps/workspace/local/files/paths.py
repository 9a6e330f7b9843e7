"""Parses and validates the names of files and their percent-encoded paths, `files/{bucket}/{name}`."""

import unicodedata
from urllib.parse import quote, unquote

from django.utils.translation import gettext

from apps.errors import FileRefused

ROOT = "files"
LONGEST_NAME = 500
"""The maximum length of a file's name in characters, which is the size of the database column."""
LONGEST_SEGMENT = 255
"""The maximum length of a path segment in bytes. It is the limit on most file systems, so that
files can be copied to a disk.
"""
JOINER = "\u200d"
"""The zero-width joiner, which combines emoji. Other invisible characters are removed from names,
because they can disguise a file's extension.
"""
SHOWN = 80
"""Error messages truncate a name to this many characters."""


def write_path(bucket: str, name: str) -> str:
    return "/".join((ROOT, bucket, *(quote(segment, safe="") for segment in name.split("/"))))


def split_path(path: str) -> tuple[str, str] | None:
    """Return the bucket and the name in a path, or None if no file can have the path."""
    root, bucket, *segments = path.split("/") if path.count("/") >= 2 else ("", "")
    if root != ROOT or not bucket:
        return None
    try:
        decoded = [unquote(segment, errors="strict") for segment in segments]
    except UnicodeError:
        return None
    name = "/".join(decoded)
    if any("/" in segment for segment in decoded) or file_name_problem(name):
        return None
    return bucket, name


def clean_name(name: str) -> str:
    """Return the name in the form in which new names are stored: NFC, without direction marks and
    similar characters.
    """
    text = unicodedata.normalize("NFC", name)
    return "".join(c for c in text if unicodedata.category(c) != "Cf" or c == JOINER)


def check_name(name: str) -> None:
    """Raise `FileRefused` if no file can have this name."""
    problem = file_name_problem(name)
    if problem:
        shown = name if len(name) <= SHOWN else f"{name[:SHOWN]}…"
        raise FileRefused(
            gettext("A file can’t be named {shown}: {problem}").format(shown=shown, problem=problem)
        )


def file_name_problem(name: str) -> str:
    """Return the reason why a file cannot have this name, or "" if it can."""
    if not name:
        return "the name is empty."
    if len(name) > LONGEST_NAME:
        return f"the name has {len(name)} characters; the limit is {LONGEST_NAME}."
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
        return "control characters are not allowed."
    return next(filter(None, map(segment_problem, name.split("/"))), "")


def segment_problem(segment: str) -> str:
    if not segment:
        return "it begins or ends with a slash, or has two in a row."
    if segment in (".", ".."):
        return "'.' and '..' are not allowed."
    if len(segment.encode()) > LONGEST_SEGMENT:
        return f"a segment of it is too long; the limit is {LONGEST_SEGMENT} bytes."
    return ""
