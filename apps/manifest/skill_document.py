"""A skill document: YAML front matter and instructions in Markdown.

---
name: tone-of-voice
description: How we write. Read it before you write to a customer.
---
Be kind …
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from apps.manifest.front_matter import PLACE, FrontMatterInvalid, Value, read_front_matter
from apps.manifest.problems import DocumentInvalid, Problem, cut, join
from apps.manifest.skill_fields import SkillFields
from apps.manifest.skill_files import MOST_BYTES, SKILL_FILE, read_text

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
LONGEST_COMPATIBILITY = 500
USER_INVOCABLE = "user-invocable"
"""The key of a skill's metadata that is "false" for a skill that is meant for models alone."""
REQUIRES_TOOLS = "requires-tools"
"""The key of a skill's metadata with names of tools, separated by blanks."""

_name = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class SkillInvalid(DocumentInvalid): ...


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

    @property
    def is_for_users(self) -> bool:
        """Return whether users may choose it for a question; else only models read it, when a task needs it."""
        return (self.metadata or {}).get(USER_INVOCABLE, "true").strip().lower() != "false"

    @property
    def required_tools(self) -> tuple[str, ...]:
        """The tools without which models are not told of the skill."""
        return tuple((self.metadata or {}).get(REQUIRES_TOOLS, "").split())


@dataclass(frozen=True, eq=False, slots=True)
class InstalledSkill:
    """A skill that every application of this installation is offered.

    `text` is its document as it was written, `files` the texts beside it by path.
    """

    document: SkillDocument
    text: str
    files: Mapping[str, str]


def read_skill_document(text: str, most_bytes: int = MOST_BYTES) -> SkillDocument:
    """Raises `SkillInvalid` with all that is wrong."""
    if problem := size_problem(text, most_bytes):
        raise SkillInvalid((Problem(SKILL_FILE, problem),))
    try:
        front = read_front_matter(text)
    except FrontMatterInvalid as error:
        raise SkillInvalid(error.problems) from None
    fields = SkillFields(front.values)
    document = SkillDocument(
        name=fields.text("name", name_problem) or "",
        description=fields.text("description", description_problem) or "",
        license=fields.optional("license"),
        compatibility=fields.optional("compatibility", partial(too_long, LONGEST_COMPATIBILITY)),
        metadata=fields.texts_by_key("metadata"),
        allowed_tools=fields.words("allowed-tools"),
        body=front.body,
        warnings=cut([*front.warnings, *warnings_about(front.values, front.body)]),
    )
    if fields.problems:
        raise SkillInvalid(cut(fields.problems))
    return document


KNOWN = frozenset({"name", "description", "license", "compatibility", "metadata", "allowed-tools"})


def warnings_about(values: Mapping[str, Value], body: str) -> Iterator[Problem]:
    """Warnings about unknown keys and about missing instructions."""
    for key in sorted(values.keys() - KNOWN):
        path, meant = join("", key), key.replace("_", "-").lower()
        if meant in KNOWN:
            yield Problem(path, f"is ignored; write it as '{meant}'")
        else:
            yield Problem(path, "is no key of a skill and is ignored; put it below 'metadata'")
    if not body:
        yield Problem(PLACE, "is all there is; write the instructions below it")


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
    return too_long(LONGEST_DESCRIPTION, text)


def too_long(most: int, text: str) -> str:
    if len(text) <= most:
        return ""
    return f"has {len(text):,} characters; shorten it to {most:,}"


def size_problem(text: str, most_bytes: int) -> str:
    """Why this text cannot be that of a skill, "" if it can."""
    try:
        read_text(text, most_bytes)
    except ValueError as error:
        return str(error)
    return "" if text.strip() else "is empty; write front matter and instructions"
