"""Collects the skills of a run, and formats them for the model."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from html import escape

from apps.agent.tools import Toolbox
from apps.errors import FileMissing, InitializationIssue
from apps.manifest.markdown.skill_document import InstalledSkill

TOOL_NAME = "internal_skills_read_skill"
SECTION = "Skill loading"
HOW_TO = (
    "Skills are instructions for certain tasks. When a task matches the description of one of "
    f"these, read it with `{TOOL_NAME}` before you begin, and follow it."
)

ReadFile = Callable[[str], Awaitable[str]]
"""A function that returns the text of a skill's file. Raises `QuickAppError` on failure."""


@dataclass(frozen=True)
class Skill:
    """A skill that the model can read."""

    name: str
    description: str
    text: str = field(repr=False)
    """The content of the skill's `SKILL.md`."""
    origin: str
    """The source of the skill, for messages."""
    files: tuple[str, ...]
    """The paths of the skill's other files."""
    read_file: ReadFile = field(repr=False, compare=False)
    problem: str = ""
    """The reason why `files` is incomplete, or ""."""
    required_tools: tuple[str, ...] = ()

    def is_usable(self, tools: Iterable[str]) -> bool:
        """Return True if all required tools are in `tools`, with or without a toolset prefix."""
        endings = tuple(tools)
        return all(
            any(name == one or name.endswith(f"_{one}") for name in endings)
            for one in self.required_tools
        )

    @cached_property
    def full_text(self) -> str:
        """Return the `SKILL.md`, followed by the list of files."""
        lines = [f"  <file>{escape(path, quote=False)}</file>" for path in self.files]
        if self.problem:
            lines.append(f"  <note>{escape(self.problem, quote=False)}</note>")
        if not lines:
            return self.text
        block = "\n".join(("<skill_files>", *lines, "</skill_files>"))
        return f"{self.text.rstrip()}\n\n{block}"


@dataclass(frozen=True)
class SkillCollection:
    """The skills of a run by name, and an issue for each duplicate name."""

    skills: Mapping[str, Skill]
    issues: tuple[InitializationIssue, ...] = ()

    @property
    def requires_tools(self) -> bool:
        return any(skill.required_tools for skill in self.skills.values())

    def prompt_with(self, tools: Toolbox) -> str:
        """Return the part of the system prompt that lists the skills whose required tools are
        available.
        """
        # A search for tools can find the unlisted ones later.
        names = {*tools.listed, *tools.unlisted}
        return list_skills(
            tuple(
                (one.name, one.description) for one in self.skills.values() if one.is_usable(names)
            )
        )

    @cached_property
    def prompt(self) -> str:
        """Return the part of the system prompt that lists all skills, or "" if there are none."""
        return list_skills(tuple((one.name, one.description) for one in self.skills.values()))


@lru_cache(maxsize=64)
def list_skills(skills: tuple[tuple[str, str], ...]) -> str:
    """Return the part of the system prompt that lists skills by name and description, or ""."""
    if not skills:
        return ""
    lines = [
        f"  <skill>\n    <name>{escape(name, quote=False)}</name>\n"
        f"    <description>{escape(description, quote=False)}</description>\n  </skill>"
        for name, description in skills
    ]
    return "\n".join((HOW_TO, "", "<available_skills>", *lines, "</available_skills>"))


def merge_collections(skills: Iterable[Skill]) -> SkillCollection:
    """Collect skills by name. The first skill with a name takes precedence."""
    kept: dict[str, Skill] = {}
    issues = []
    for skill in skills:
        winner = kept.setdefault(skill.name, skill)
        if winner is not skill:
            problem = (
                f"The skill '{skill.name}' of {skill.origin} is left out: {winner.origin} has "
                "a skill with the same name, which takes precedence. Rename one of them."
            )
            issues.append(InitializationIssue(problem, section=SECTION, is_hard=False))
    return SkillCollection(kept, tuple(issues))


@lru_cache(maxsize=8)
def predefined_skills(installed: tuple[InstalledSkill, ...]) -> SkillCollection:
    """Return the predefined skills, cached by version of the predefined content."""
    return merge_collections(map(predefined_skill, installed))


def predefined_skill(installed: InstalledSkill) -> Skill:
    document = installed.document
    return Skill(
        document.name,
        document.description,
        installed.text,
        "the predefined content",
        tuple(installed.files),
        partial(read_installed, installed),
        required_tools=document.required_tools,
    )


async def read_installed(installed: InstalledSkill, path: str) -> str:
    """Return a file of a predefined skill. Raises `FileMissing` if the skill has no such file."""
    if path not in installed.files:
        raise FileMissing(f"The skill {installed.document.name} has no file {path!r}.")
    return installed.files[path]
