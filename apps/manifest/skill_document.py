"""A skill document: YAML front matter and instructions in Markdown; and the files beside it.

---
name: tone-of-voice
description: How we write. Read it before you write to a customer.
---
Be kind …
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from apps.manifest.front_matter import PLACE, FrontMatterInvalid, Value, read_front_matter
from apps.manifest.problems import Problem, cut, join

SKILL_FILE = "SKILL.md"
"""The document among the files of a skill."""

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
LONGEST_COMPATIBILITY = 500
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

_name = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_tool = re.compile(r"[^\s,(]+(?:\([^)]*\))?")
_control = re.compile(r"[\x00-\x1f\x7f\\]")


class SkillInvalid(Exception):
    """`problems` has one entry for each mistake of a document."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(f"{problem.path}: {problem.message}" for problem in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class SkillDocument:
    """The front matter of a skill, and its instructions (`body`, Markdown).

    `allowed_tools` is its author's hint and restricts nothing. `warnings` are about mistakes that
    keep nobody from using it.
    """

    name: str
    description: str
    license: str | None = None
    compatibility: str | None = None
    metadata: Mapping[str, str] | None = None
    allowed_tools: tuple[str, ...] | None = None
    body: str = ""
    warnings: tuple[Problem, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class InstalledSkill:
    """A skill that every application of this installation is offered.

    `text` is its document as it was written, `files` the texts beside it by path.
    """

    document: SkillDocument
    text: str
    files: Mapping[str, str]


# --- The document -----------------------------------------------------------------------------


def read_skill_document(text: str, most_bytes: int = MOST_BYTES) -> SkillDocument:
    """Raises `SkillInvalid` with all that is wrong."""
    if problem := size_problem(text, most_bytes):
        raise SkillInvalid((Problem(SKILL_FILE, problem),))
    try:
        front = read_front_matter(text)
    except FrontMatterInvalid as error:
        raise SkillInvalid((error.problem,)) from None
    read = Reading(front.values)
    document = SkillDocument(
        name=read.text("name", name_problem) or "",
        description=read.text("description", description_problem) or "",
        license=read.optional("license"),
        compatibility=read.optional("compatibility", compatibility_problem),
        metadata=read.texts_by_key("metadata"),
        allowed_tools=read.words("allowed-tools"),
        body=front.body,
        warnings=cut([*front.warnings, *warnings_about(front.values, front.body)]),
    )
    if read.problems:
        raise SkillInvalid(cut(read.problems))
    return document


KNOWN = frozenset({"name", "description", "license", "compatibility", "metadata", "allowed-tools"})


def warnings_about(values: Mapping[str, Value], body: str) -> Iterator[Problem]:
    """Warnings about unknown keys and about missing instructions."""
    for key in sorted(values.keys() - KNOWN):
        path = join("", key)
        if key.replace("_", "-").lower() in KNOWN:
            meant = key.replace("_", "-").lower()
            yield Problem(path, f"is ignored; write it as '{meant}'")
        else:
            yield Problem(path, "is no key of a skill and is ignored; put it below 'metadata'")
    if not body:
        yield Problem(PLACE, "is all there is; write the instructions below it")


class Reading:
    """Reads the values of front matter and collects their problems."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self.values = values
        self.problems: list[Problem] = []

    def text(self, key: str, problem_of: Callable[[str], str]) -> str | None:
        if self.values.get(key) in (None, ""):
            self.wrong(key, f"is missing; write '{key}: …' in the front matter")
            return None
        return self.optional(key, problem_of)

    def optional(self, key: str, problem_of: Callable[[str], str] = lambda text: "") -> str | None:
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            self.wrong(key, f"has to be a text, not {kind_of(value)}")
            return None
        found = (value or "").strip()
        if value and (problem := problem_of(found)):
            self.wrong(key, problem)
        return found or None

    def texts_by_key(self, key: str) -> Mapping[str, str] | None:
        value = self.values.get(key)
        if value is None or value == "":
            return None
        if not isinstance(value, dict):
            self.wrong(key, f"has to be an object of texts by their keys, not {kind_of(value)}")
            return None
        for name, member in value.items():
            if member is not None and not isinstance(member, str):
                path = join(key, name)
                self.problems.append(Problem(path, f"has to be a text, not {kind_of(member)}"))
        return {name: member for name, member in value.items() if isinstance(member, str)}

    def words(self, key: str) -> tuple[str, ...] | None:
        value = self.values.get(key)
        if value is None or isinstance(value, str):
            return tuple(_tool.findall(value or "")) or None
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            self.wrong(key, "has to be a list of names of tools, or these with spaces between them")
            return None
        return tuple(str(word).strip() for word in value) or None

    def wrong(self, key: str, message: str) -> None:
        self.problems.append(Problem(key, message))


def name_problem(name: str) -> str:
    """Why a skill cannot have this name, "" if it can."""
    if len(name) > LONGEST_NAME:
        return f"has {len(name):,} characters; at most {LONGEST_NAME} are possible"
    if _name.fullmatch(name):
        return ""
    return (
        f"cannot be {name!r}; write lower-case letters a-z, digits and single hyphens between them"
    )


def description_problem(text: str) -> str:
    if not text:
        return "is empty; write what the skill is for and when to read it"
    return too_long(text, LONGEST_DESCRIPTION)


def compatibility_problem(text: str) -> str:
    return too_long(text, LONGEST_COMPATIBILITY)


def too_long(text: str, most: int) -> str:
    if len(text) <= most:
        return ""
    return f"has {len(text):,} characters; shorten it to {most:,}"


def kind_of(value: Value) -> str:
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "an object"


def size_problem(text: str, most_bytes: int) -> str:
    """Why this text cannot be that of a skill, "" if it can."""
    try:
        read_text(text, most_bytes)
    except ValueError as error:
        return str(error)
    return "" if text.strip() else "is empty; write front matter and instructions"


# --- The files beside it ----------------------------------------------------------------------


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
