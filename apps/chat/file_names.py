"""Names of uploaded files: safe everywhere, and free in their folder."""

import re
import unicodedata
from collections.abc import Iterable

LONGEST_NAME = 120
"""Characters, so that a name with its folder stays within what a path may have."""
LONGEST_NAME_BYTES = 240

_unsafe = re.compile(r'[\\/:*?"<>|#%]+')


def safe_name(written: str) -> str:
    """The file name as one path segment that every file system accepts."""
    text = unicodedata.normalize("NFC", written.replace("\\", "/").rsplit("/", 1)[-1])
    kept = "".join(c for c in text if unicodedata.category(c)[0] != "C" or c == "\u200d")
    name = " ".join(_unsafe.sub("_", kept).split()).strip(". ") or "file"
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending) > 16:
        stem, dot, ending = name, "", ""
    while len(stem + dot + ending) > LONGEST_NAME or too_long(stem + dot + ending):
        stem = stem[:-1]
    return (stem.rstrip() or "file") + dot + ending


def too_long(name: str) -> bool:
    return len(name.encode("utf-8", "replace")) > LONGEST_NAME_BYTES


def free_name(name: str, taken: Iterable[str]) -> str:
    """The name, or with a number: "report (2).pdf"."""
    known = {other.casefold() for other in taken}
    if name.casefold() not in known:
        return name
    stem, dot, ending = name.rpartition(".")
    stem = stem or name
    tail = f"{dot}{ending}" if dot and stem != name else ""
    numbers = (f"{stem} ({number}){tail}" for number in range(2, len(known) + 3))
    return next(candidate for candidate in numbers if candidate.casefold() not in known)
