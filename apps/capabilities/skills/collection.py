"""Collects the skills of a run."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from html import escape

from apps.errors import FileMissing, InitializationIssue
from apps.manifest.markdown.skill_document import InstalledSkill

TOOL_NAME = "internal_skills_read_skill"
SECTION = "Skill loading"
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
    """Return a file from a predefined skill. Raises `FileMissing` if the skill has no such file."""
    if path not in installed.files:
        raise FileMissing(f"The skill {installed.document.name} has no file {path!r}.")
    return installed.files[path]
