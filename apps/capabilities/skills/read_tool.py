"""The tool that reads a skill, or one of its files."""

from dataclasses import replace

from apps.agent.tools import Invocation, ToolResult, ToolSpec
from apps.capabilities.registry import Key, Opening
from apps.capabilities.skills.collection import TOOL_NAME, Collection, Skill
from apps.capabilities.wrappers.internal import (
    IN_TITLE,
    internal_tool,
    parameters,
    show_result,
    text_parameter,
)
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.capabilities.wrappers.texts import STAGE_CHARACTERS, fenced, one_line, shortened
from apps.errors import ToolError
from apps.manifest.manifest import Manifest

NAME = "skill_name"
PATH = "file_path"
SKILLS = Key[Collection]("skills")
"""Of the run."""
MOST_NAMED = 30
"""Names of skills or files in an error message."""
PARAMETERS = parameters(
    {
        NAME: text_parameter("The name of a skill, as it is listed.", display=IN_TITLE),
        PATH: text_parameter(
            "A file of the skill, as its <skill_files> lists it. Without it: the instructions of "
            "the skill."
        ),
    }
)
DESCRIPTION = (
    "Reads a skill: its instructions and which files it has, or one of these files. "
    "Read a skill before you do what it is for."
)


def read_tool(manifest: Manifest) -> PreparedTool:
    tool = internal_tool(
        manifest,
        (TOOL_NAME, DESCRIPTION, PARAMETERS),
        read_skill,
        "Reading Skill:",
        is_repeatable=True,
        addresses=frozenset({NAME, PATH}),
    )
    # Required for the model alone: `find_skill` has a better message for a call without a name.
    schema = {**tool.spec.parameters, "required": [NAME]}
    return replace(tool, spec=ToolSpec(TOOL_NAME, DESCRIPTION, schema))


async def read_skill(opening: Opening, invocation: Invocation) -> ToolResult:
    """Raises `ToolError`, `QuickAppError`."""
    skill = find_skill(opening.known[SKILLS], invocation.arguments.get(NAME))
    path = str(invocation.arguments.get(PATH) or "").strip()
    text = await read_file(skill, path) if path else skill.full_text
    shown = fenced(shortened(text, STAGE_CHARACTERS), "" if path else "markdown")
    show_result(invocation, shown)
    return ToolResult(text)


def find_skill(collection: Collection, name: object) -> Skill:
    """Raises `ToolError`."""
    wanted = str(name or "").strip()
    if not wanted:
        raise ToolError(f"Missing required parameter: {NAME}")
    if wanted not in collection.skills:
        there = joined_names(tuple(collection.skills))
        raise ToolError(f"Skill '{one_line(wanted)}' is not found. Available skills: {there}.")
    return collection.skills[wanted]


async def read_file(skill: Skill, path: str) -> str:
    """Raises `ToolError`, `QuickAppError`."""
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
