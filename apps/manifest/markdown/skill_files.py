"""Reads the files of a skill: its SKILL.md, and the text files next to it that models can read."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from apps.manifest.problems import Problem, cut_problems

SKILL_FILE = "SKILL.md"
"""The file name of a skill's document."""

MOST_BYTES = 262_144
"""The maximum size of SKILL.md and of each other file, in UTF-8 bytes."""
MOST_FILES = 200
"""The maximum number of files next to a SKILL.md."""
LONGEST_PATH = 255
"""The maximum number of characters in a file's path within a skill."""

TEXT_ENDINGS = frozenset(
    {
        ".md", ".markdown", ".txt", ".json", ".yaml", ".yml", ".csv", ".tsv", ".xml", ".html",
        ".toml", ".ini", ".sql", ".py", ".sh", ".js", ".ts",
    }
)  # fmt: skip
"""The extensions of files that models can read. All other files count as binary."""

_control = re.compile(r"[\x00-\x1f\x7f\\]")


class SkillFiles(NamedTuple):
    """The readable files next to a SKILL.md by path, and the reasons why others were skipped."""

    files: Mapping[str, str]
    problems: tuple[Problem, ...]


def is_offered(path: str) -> bool:
    """Return True if models can read a file with this path in a skill."""
    return not path_problem(path)


def path_problem(path: str) -> str:
    """Return why models cannot read a file with this path in a skill, or "" if they can."""
    parts = path.split("/")
    if path.casefold() == SKILL_FILE.casefold():
        return "is the name of the skill's document; rename the file"
    if len(path) > LONGEST_PATH:
        return f"has a path of {len(path):,} characters; the limit is {LONGEST_PATH}"
    if not all(parts) or _control.search(path):
        return "is not a path in a skill; use a path such as 'folder/name.md'"
    if any(part.startswith(".") for part in parts):
        return "is hidden; remove the dot at the beginning of its name"
    if PurePosixPath(path).suffix.lower() not in TEXT_ENDINGS:
        return f"must end with one of {' '.join(sorted(TEXT_ENDINGS))}"
    return ""


def bundle_files(files: Mapping[str, str | bytes]) -> SkillFiles:
    """Decode the files next to a SKILL.md that models can read, up to `MOST_FILES`."""
    texts: dict[str, str] = {}
    problems: list[Problem] = []
    for path, content in sorted(files.items()):
        problem = path_problem(path)
        if not problem and len(texts) >= MOST_FILES:
            problem = f"exceeds the limit of {MOST_FILES} files next to {SKILL_FILE}"
        if not problem:
            try:
                texts[path] = decode_skill_file(content)
            except ValueError as error:
                problem = str(error)
        if problem:
            problems.append(Problem(path, problem))
    return SkillFiles(texts, cut_problems(problems))


def decode_skill_file(content: str | bytes, most_bytes: int = MOST_BYTES) -> str:
    """Decode the text of a file, which may be empty. Raises `ValueError` if it is not UTF-8 or too
    large.
    """
    try:
        encoded = content if isinstance(content, bytes) else content.encode()
        text = encoded.decode("utf-8-sig")
    except UnicodeError:
        raise ValueError("is not UTF-8; save it as UTF-8") from None
    if len(encoded) > most_bytes:
        raise ValueError(f"is {len(encoded):,} bytes; the limit is {most_bytes:,}")
    return text
