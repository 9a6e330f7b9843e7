"""The skills of one run, and the texts in which the model reads of them."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from html import escape

from apps.agent.tools import Toolbox
from apps.errors import FileMissing, InitializationIssue
from apps.manifest.skill_document import InstalledSkill

TOOL_NAME = "internal_skills_read_skill"
SECTION = "Skill loading"
HOW_TO = (
    "Skills are instructions for certain tasks. When a task fits the description of one of these, "
    f"read it with `{TOOL_NAME}` before you begin, and follow it."
)

ReadFile = Callable[[str], Awaitable[str]]
"""The text of one of the files that are listed. Raises `QuickAppError`."""


@dataclass(frozen=True)
class Skill:
    """`text` is its document, `files` are the paths of its other files.

    `origin` is for messages to the operator; `problem` is why not all files are listed, "" if all
    are.
    """

    name: str
    description: str
    text: str = field(repr=False)
    origin: str
    files: tuple[str, ...]
    read_file: ReadFile = field(repr=False, compare=False)
    problem: str = ""
    required_tools: tuple[str, ...] = ()

    def is_usable(self, tools: Iterable[str]) -> bool:
        """Return whether `tools` has all tools that the skill requires, with or without a prefix."""
        endings = tuple(tools)
        return all(
            any(name == one or name.endswith(f"_{one}") for name in endings)
            for one in self.required_tools
        )

    @cached_property
    def full_text(self) -> str:
        """The document and the list of files, as the model reads them."""
        lines = [f"  <file>{escape(path, quote=False)}</file>" for path in self.files]
        if self.problem:
            lines.append(f"  <note>{escape(self.problem, quote=False)}</note>")
        if not lines:
            return self.text
        block = "\n".join(("<skill_files>", *lines, "</skill_files>"))
        return f"{self.text.rstrip()}\n\n{block}"


@dataclass(frozen=True)
class Collection:
    """Skills by name, and an issue for each that has the name of another one."""

    skills: Mapping[str, Skill]
    issues: tuple[InitializationIssue, ...] = ()

    @property
    def requires_tools(self) -> bool:
        return any(skill.required_tools for skill in self.skills.values())

    def prompt_with(self, tools: Toolbox) -> str:
        """The part of the system prompt that lists those for which there are the tools."""
        names = {*tools.listed, *tools.hidden}  # tools that are found later are hidden
        usable = {name: one for name, one in self.skills.items() if one.is_usable(names)}
        return Collection(usable).prompt

    @cached_property
    def prompt(self) -> str:
        """The part of the system prompt that lists all of them, "" for none."""
        if not self.skills:
            return ""
        lines = [
            f"  <skill>\n    <name>{escape(skill.name, quote=False)}</name>\n"
            f"    <description>{escape(skill.description, quote=False)}</description>\n  </skill>"
            for skill in self.skills.values()
        ]
        return "\n".join((HOW_TO, "", "<available_skills>", *lines, "</available_skills>"))


def merged(skills: Iterable[Skill]) -> Collection:
    """The first of several skills with one name is kept."""
    kept: dict[str, Skill] = {}
    issues = []
    for skill in skills:
        winner = kept.setdefault(skill.name, skill)
        if winner is not skill:
            problem = (
                f"The skill '{skill.name}' of {skill.origin} is left out: {winner.origin} has one "
                "of this name, which goes first. Rename one of them."
            )
            issues.append(InitializationIssue(problem, section=SECTION, is_hard=False))
    return Collection(kept, tuple(issues))


@lru_cache(maxsize=8)
def predefined(installed: tuple[InstalledSkill, ...]) -> Collection:
    """Cached for each version of the predefined content."""
    return merged(map(predefined_skill, installed))


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
    """Raises `FileMissing`."""
    if path not in installed.files:
        raise FileMissing(f"The skill {installed.document.name} has no file {path!r}.")
    return installed.files[path]
