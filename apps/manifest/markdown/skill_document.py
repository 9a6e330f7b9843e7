"""Parses a skill document: YAML front matter and instructions in Markdown.

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

from apps.manifest.markdown.front_matter import PLACE, FrontMatterInvalid, Value, read_front_matter
from apps.manifest.markdown.skill_fields import SkillFields
from apps.manifest.markdown.skill_files import MOST_BYTES, SKILL_FILE, decode_skill_file
from apps.manifest.problems import DocumentInvalid, Problem, cut_problems, join_path

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
LONGEST_COMPATIBILITY = 500
USER_INVOCABLE = "user-invocable"
"""A metadata key. If its value is "false", only models use the skill."""
REQUIRES_TOOLS = "requires-tools"
"""A metadata key whose value lists required tools, separated by spaces."""

_name = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class SkillInvalid(DocumentInvalid): ...


@dataclass(frozen=True, slots=True)
class SkillDocument:
    """A parsed SKILL.md."""

    name: str
    description: str
    license: str | None = None
    compatibility: str | None = None
    metadata: Mapping[str, str] | None = None
    allowed_tools: tuple[str, ...] | None = None
    """The tools that the author recommends for the skill. Models can also use other tools."""
    body: str = ""
    """The instructions, in Markdown."""
    warnings: tuple[Problem, ...] = ()
    """Mistakes that do not prevent the use of the skill."""

    @property
    def is_for_users(self) -> bool:
        """Return True if users can add the skill to a question. Models read the skill when a task
        needs it, even if users cannot add it.
        """
        return (self.metadata or {}).get(USER_INVOCABLE, "true").strip().lower() != "false"

    @property
    def required_tools(self) -> tuple[str, ...]:
        """Return the names of the required tools. Models see the skill only if the application has
        these tools.
        """
        return tuple((self.metadata or {}).get(REQUIRES_TOOLS, "").split())


@dataclass(frozen=True, eq=False, slots=True)
class InstalledSkill:
    """A predefined skill, which every application of this installation offers."""

    document: SkillDocument
    text: str
    """The content of SKILL.md."""
    files: Mapping[str, str]
    """The contents of the skill's other files, by path."""


def read_skill_document(text: str, most_bytes: int = MOST_BYTES) -> SkillDocument:
    """Parse a SKILL.md. Raises `SkillInvalid` with all problems."""
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
        warnings=cut_problems([*front.warnings, *warnings_about(front.values, front.body)]),
    )
    if fields.problems:
        raise SkillInvalid(cut_problems(fields.problems))
    return document


KNOWN = frozenset({"name", "description", "license", "compatibility", "metadata", "allowed-tools"})


def warnings_about(values: Mapping[str, Value], body: str) -> Iterator[Problem]:
    """Yield warnings about unknown keys and missing instructions."""
    for key in sorted(values.keys() - KNOWN):
        path, meant = join_path("", key), key.replace("_", "-").lower()
        if meant in KNOWN:
            yield Problem(path, f"is ignored; use '{meant}'")
        else:
            yield Problem(path, "is not a key of skills and is ignored; move it to 'metadata'")
    if not body:
        yield Problem(PLACE, "is not followed by instructions; add them below it")


def name_problem(name: str) -> str:
    """Return why a skill cannot have this name, or ""."""
    if len(name) > LONGEST_NAME:
        return f"has {len(name):,} characters; the limit is {LONGEST_NAME}"
    if _name.fullmatch(name):
        return ""
    return f"cannot be {name!r}; use lowercase letters a-z, digits and single hyphens between them"


def description_problem(text: str) -> str:
    if not text:
        return "is empty; describe what the skill is for and when to read it"
    return too_long(LONGEST_DESCRIPTION, text)


def too_long(most: int, text: str) -> str:
    if len(text) <= most:
        return ""
    return f"has {len(text):,} characters; the limit is {most:,}"


def size_problem(text: str, most_bytes: int) -> str:
    """Return an error message if the text of a SKILL.md is empty, too large or not valid UTF-8,
    else "".
    """
    try:
        decode_skill_file(text, most_bytes)
    except ValueError as error:
        return str(error)
    return "" if text.strip() else "is empty; add front matter and instructions"
