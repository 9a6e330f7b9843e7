"""The files of a skill: its document, and the texts beside it that models may read."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from apps.manifest.problems import Problem, cut

SKILL_FILE = "SKILL.md"
"""The document among the files of a skill."""

MOST_BYTES = 262_144
"""Of the document, and of each file beside it, in UTF-8."""
MOST_FILES = 200
"""Beside the document."""
LONGEST_PATH = 255
"""Characters of the path of a file in its skill."""

TEXT_ENDINGS = frozenset(
    {
        ".md", ".markdown", ".txt", ".json", ".yaml", ".yml", ".csv", ".tsv", ".xml", ".html",
        ".toml", ".ini", ".sql", ".py", ".sh", ".js", ".ts",
    }
)  # fmt: skip
"""Files beside the document; others hold no text that a model could read."""

_control = re.compile(r"[\x00-\x1f\x7f\\]")


class Bundled(NamedTuple):
    """The readable texts beside a document, by path, and why others cannot be read."""

    files: Mapping[str, str]
    problems: tuple[Problem, ...]


def is_offered(path: str) -> bool:
    """Whether models may read a file of a skill; others are passed over."""
    return not path_problem(path)


def path_problem(path: str) -> str:
    """Why a file with this path below its skill is not offered; "" if it is."""
    parts = path.split("/")
    if path.casefold() == SKILL_FILE.casefold():
        return f"is the document itself; name a file beside {SKILL_FILE} otherwise"
    if len(path) > LONGEST_PATH:
        return f"has a path of {len(path):,} characters; at most {LONGEST_PATH} are possible"
    if not all(parts) or _control.search(path):
        return "is no path in a skill; write it as 'folder/name.md'"
    if any(part.startswith(".") for part in parts):
        return "is hidden; take the dot off the beginning of its name"
    if PurePosixPath(path).suffix.lower() not in TEXT_ENDINGS:
        return f"has none of the possible endings: {' '.join(sorted(TEXT_ENDINGS))}"
    return ""


def bundled(files: Mapping[str, str | bytes]) -> Bundled:
    """The readable files beside a document; of too many the first ones."""
    texts: dict[str, str] = {}
    problems: list[Problem] = []
    for path, content in sorted(files.items()):
        problem = path_problem(path)
        if not problem and len(texts) >= MOST_FILES:
            problem = f"is one too many; a skill can have {MOST_FILES} files beside {SKILL_FILE}"
        if not problem:
            try:
                texts[path] = read_text(content)
            except ValueError as error:
                problem = str(error)
        if problem:
            problems.append(Problem(path, problem))
    return Bundled(texts, cut(problems))


def read_text(content: str | bytes, most_bytes: int = MOST_BYTES) -> str:
    """A file's text, which may be empty. Raises ValueError with the reason why it has none."""
    try:
        encoded = content if isinstance(content, bytes) else content.encode()
        text = encoded.decode("utf-8-sig")
    except UnicodeError:
        raise ValueError("is not UTF-8; save it in this encoding") from None
    if len(encoded) > most_bytes:
        raise ValueError(f"has {len(encoded):,} bytes; at most {most_bytes:,} are possible")
    return text
