"""Defines the tool that reads a skill or one of its files."""

from dataclasses import replace

from django.utils.translation import gettext_lazy

from apps.agent.tools import Invocation, ToolResult, ToolSpec
from apps.capabilities.registry import Key, Opening, PreparedTool
from apps.capabilities.skills.collection import TOOL_NAME, Skill, SkillCollection
from apps.capabilities.wrappers.internal import (
    IN_TITLE,
    PlatformTool,
    internal_tool,
    parameters,
    show_result,
    text_parameter,
)
from apps.capabilities.wrappers.value_texts import (
    STAGE_CHARACTERS,
    fence_code,
    one_line,
    shorten_text,
)
from apps.errors import ToolError
from apps.manifest.manifest import Manifest

NAME = "skill_name"
PATH = "file_path"
SKILLS = Key[SkillCollection]("skills")
MOST_NAMED = 30
"""An error message names up to this many skills or files."""
PARAMETERS = parameters(
    {
        NAME: text_parameter("The name of a skill, as listed.", display=IN_TITLE),
        PATH: text_parameter(
            "A file of the skill, as its <skill_files> lists it. Omit it to read the "
            "instructions of the skill."
        ),
    }
)
DESCRIPTION = (
    "Reads a skill: its instructions and the list of its files, or one of these files. Read a "
    "skill before you do a task that it describes."
)


def read_tool(manifest: Manifest) -> PreparedTool:
    tool = internal_tool(
        manifest,
        PlatformTool(
            TOOL_NAME,
            DESCRIPTION,
            PARAMETERS,
            gettext_lazy("Reading Skill:"),
            "read-only",
            addresses=frozenset({NAME, PATH}),
        ),
        read_skill,
    )
    # Only the schema for the model requires the name, because the error of `find_skill` for a
    # missing name is more helpful.
    schema = {**tool.spec.parameters, "required": [NAME]}
    return replace(tool, spec=ToolSpec(TOOL_NAME, DESCRIPTION, schema))


async def read_skill(opening: Opening, invocation: Invocation) -> ToolResult:
    """Return the text of a skill or of one of its files. Raises `ToolError` if it does not exist,
    and `QuickAppError` if it cannot be read.
    """
    skill = find_skill(opening.findings[SKILLS], invocation.arguments.get(NAME))
    path = str(invocation.arguments.get(PATH) or "").strip()
    text = await read_file(skill, path) if path else skill.full_text
    shown = fence_code(shorten_text(text, STAGE_CHARACTERS), "" if path else "markdown")
    show_result(invocation, shown)
    return ToolResult(text)


def find_skill(collection: SkillCollection, name: object) -> Skill:
    """Return the skill with this name. Raises `ToolError` if the name is missing or unknown."""
    wanted = str(name or "").strip()
    if not wanted:
        raise ToolError(f"Missing required parameter: {NAME}")
    if wanted not in collection.skills:
        there = joined_names(tuple(collection.skills))
        raise ToolError(f"Skill '{one_line(wanted)}' is not found. Available skills: {there}.")
    return collection.skills[wanted]


async def read_file(skill: Skill, path: str) -> str:
    """Return the text of a skill's file. Raises `ToolError` if the skill has no such file, and
    `QuickAppError` if it cannot be read.
    """
    if not skill.files:
        note = f" {skill.problem}" if skill.problem else ""
        raise ToolError(f"Skill '{skill.name}' has no bundled files.{note}")
    file = path.removeprefix("./")
    if file not in skill.files:
        raise ToolError(
            f"File '{one_line(path)}' is not available in skill '{skill.name}'. "
            f"Available files: {joined_names(skill.files)}."
        )
    return await skill.read_file(file)


def joined_names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return (", ".join(names[:MOST_NAMED]) or "none") + more
