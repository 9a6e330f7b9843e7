"""The tool that shows a skill to the model, or one of the files beside it."""

from __future__ import annotations

from django.conf import settings

from apps.agent.tools import Invocation, ToolResult, ToolSpec
from apps.capabilities.registry import Key, Opening
from apps.capabilities.skills.collection import TOOL_NAME, Collection, Skill
from apps.capabilities.wrappers.arguments import read_arguments
from apps.capabilities.wrappers.composition import Wishes, wrapped
from apps.capabilities.wrappers.display import display_of
from apps.capabilities.wrappers.fences import fenced
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.capabilities.wrappers.texts import STAGE_CHARACTERS, one_line, shortened
from apps.errors import ToolError
from apps.manifest.manifest import Manifest
from apps.manifest.parameters import (
    FunctionParameters,
    ParameterDisplay,
    ParameterStage,
    SimpleParameter,
)

NAME = "skill_name"
PATH = "file_path"
SKILLS = Key[Collection]("skills")
"""Of the run."""
MOST_NAMED = 30
"""Skills or files that are told when another one was asked for."""
PARAMETERS = FunctionParameters(
    type="object",
    properties={
        NAME: SimpleParameter(
            type="string",
            description="The name of a skill, as it is listed.",
            display=ParameterDisplay(stage=ParameterStage(show_value_in_stage_title=True)),
        ),
        PATH: SimpleParameter(
            type="string",
            description="A file of the skill, as its <skill_files> lists it. Without it: the "
            "instructions of the skill.",
        ),
    },
)
DESCRIPTION = (
    "Reads a skill: its instructions and which files it has, or one of these files. "
    "Read a skill before you do what it is for."
)


def reading_tool(manifest: Manifest) -> PreparedTool:
    """Reads the skills that are `known` in the run.

    The model is told that it has to name one; that it did not is ours to say.
    """
    arguments = read_arguments(PARAMETERS)
    wishes = Wishes(
        arguments,
        display_of(manifest, "Reading Skill:", parameters=PARAMETERS),
        manifest.tool_defaults.timeout_seconds or settings.DEFAULT_TOOL_TIMEOUT_SECONDS,
        is_repeatable=True,
        addresses=frozenset({NAME, PATH}),
    )
    spec = ToolSpec(TOOL_NAME, DESCRIPTION, {**arguments.schema, "required": [NAME]})
    return wrapped(PreparedTool(spec, read_skill), wishes)


async def read_skill(opening: Opening, invocation: Invocation) -> ToolResult:
    """Raises `ToolError`, `QuickAppError`."""
    skill = find(opening.known[SKILLS], invocation.arguments.get(NAME))
    path = str(invocation.arguments.get(PATH) or "").strip()
    text = await read_file(skill, path) if path else skill.told
    shown = fenced(shortened(text, STAGE_CHARACTERS), "" if path else "markdown")
    invocation.stage.write(f"> #### Result:\n\n{shown}\n")
    return ToolResult(text)


def find(collection: Collection, name: object) -> Skill:
    """Raises `ToolError`."""
    wanted = str(name or "").strip()
    if not wanted:
        raise ToolError(f"Missing required parameter: {NAME}")
    if wanted not in collection.skills:
        there = listed(tuple(collection.skills))
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
            f"Available files: {listed(skill.files)}."
        )
    return await skill.read_file(file)


def listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return (", ".join(names[:MOST_NAMED]) or "none") + more
