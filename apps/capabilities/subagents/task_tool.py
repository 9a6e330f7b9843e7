"""Defines the tool `internal_task`: its description, its arguments, and its stage."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy

from apps.capabilities.subagents.types import OfferedTypes, SubagentType
from apps.capabilities.wrappers.arguments import Arguments
from apps.capabilities.wrappers.display import Display, stage_level, visibility
from apps.capabilities.wrappers.parameter_schemas import keep_value
from apps.capabilities.wrappers.value_texts import (
    VALUE_CHARACTERS,
    one_line,
    shorten_text,
    value_text,
)
from apps.errors import InvalidParameter
from apps.json_schemas.checks import SchemaCheck
from apps.manifest.manifest import Manifest

TOOL_NAME = "internal_task"
STAGE = gettext_lazy("Subagent")
DESCRIPTION_CHARACTERS = 300
NAME_CHARACTERS = 60

DESCRIPTION = """Hands a task to a sub-agent that works on it by itself and reports back. The sub-agent knows \
nothing of this conversation, so write everything it needs into the prompt: what to do, what is \
already known, and what the report must contain. Tasks that do not depend on each other can be \
handed out at the same time, one call for each. Sub-agents:
{types}"""
PROMPT_DESCRIPTION = "The task, with everything that the sub-agent needs to know."
TYPE_DESCRIPTION = "The sub-agent that works on the task."
TOOL_SETS_DESCRIPTION = """\
Only for general-purpose, where it is required: the toolsets that the sub-agent may use, [] for \
none. Give it only those that the task needs. Omit it for other sub-agents. Toolsets:
{toolsets}"""


@dataclass(frozen=True, slots=True)
class SubagentTask:
    """The validated arguments of a task."""

    type: SubagentType
    prompt: str
    tool_sets: frozenset[str] | None = None
    """The toolsets that the model chose, or None if the model has no choice."""


def description_of(offer: OfferedTypes) -> str:
    lines = (line_of(one.name, one.description) for one in offer.types.values())
    return DESCRIPTION.format(types="\n".join(lines))


def line_of(name: str, description: str) -> str:
    text = one_line(description, DESCRIPTION_CHARACTERS)
    return f"- {name}{f': {text}' if text else ''}"


def task_arguments(offer: OfferedTypes) -> Arguments:
    """Return the schema for the arguments. The schema accepts any names. `read_task` checks the
    names, because its errors list the valid ones.
    """
    text = {"type": "string"}
    required = ["subagent_type", "prompt"]
    kind = {**text, "enum": list(offer.types), "description": TYPE_DESCRIPTION}
    properties: dict[str, Any] = {
        "subagent_type": kind,
        "prompt": {**text, "description": PROMPT_DESCRIPTION},
    }
    if offer.has_choice:
        names = list(offer.toolsets)
        lines = "\n".join(line_of(*one) for one in offer.toolsets.items()) or "- (none)"
        properties["tool_sets"] = {
            "type": "array",
            "items": {**text, "enum": names} if names else text,
            "description": TOOL_SETS_DESCRIPTION.format(toolsets=lines),
        }
    schema = {"type": "object", "properties": properties, "required": required}
    loose = {
        "type": "object",
        "properties": {"subagent_type": text, "prompt": text},
        "required": required,
    }
    return Arguments(schema, SchemaCheck.of(loose), {}, keep_value)


def read_task(arguments: Mapping[str, object], offer: OfferedTypes) -> SubagentTask:
    """Parse the arguments of a call. Raises `InvalidParameter` if the task is empty, or if the
    sub-agent or a toolset is unknown.
    """
    name, prompt = str(arguments["subagent_type"]), str(arguments["prompt"])
    chosen = offer.types.get(name)
    if chosen is None:
        valid = ", ".join(offer.types)
        problem = f"unknown sub-agent {one_line(name, NAME_CHARACTERS)!r}. Valid: {valid}."
        raise InvalidParameter("subagent_type", problem)
    if not prompt.strip():
        raise InvalidParameter("prompt", "it is empty. Describe the task.")
    given = arguments.get("tool_sets")
    if chosen.chooses_toolsets:
        return SubagentTask(chosen, prompt, read_toolsets(given, offer))
    if given is not None:
        raise InvalidParameter(
            "tool_sets", f"{name!r} has a fixed set of tools. Omit this parameter."
        )
    return SubagentTask(chosen, prompt)


def read_toolsets(given: object, offer: OfferedTypes) -> frozenset[str]:
    """Return the toolsets that the model chose. Raises `InvalidParameter` unless they are known
    names.
    """
    valid = f"Valid toolsets: {', '.join(offer.toolsets) or 'none'}; [] for no toolset."
    if given is None:
        raise InvalidParameter("tool_sets", f"it is required but missing. {valid}")
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise InvalidParameter("tool_sets", f"it must be a list of strings. {valid}")
    if unknown := [name for name in given if name not in offer.toolsets]:
        names = ", ".join(repr(one_line(name, NAME_CHARACTERS)) for name in unknown[:10])
        raise InvalidParameter("tool_sets", f"unknown toolset {names}. {valid}")
    return frozenset(given)


@dataclass(frozen=True, slots=True)
class TaskDisplay(Display):
    """Formats the stage of a task with its sub-agent, prompt and toolsets."""

    def request(self, arguments: Mapping[str, Any]) -> str:
        name = one_line(value_text(arguments.get("subagent_type")))
        prompt = shorten_text(value_text(arguments.get("prompt")), VALUE_CHARACTERS)
        text = f"**Subagent:** {name}\n\n**Task:** {prompt}\n\n"
        toolsets = arguments.get("tool_sets")
        if toolsets is None:
            return text
        named = toolsets if isinstance(toolsets, list) else [toolsets]
        names = one_line(", ".join(map(value_text, named)), VALUE_CHARACTERS)
        return f"{text}**Tools:** {names or 'none'}\n\n"


def display_for(manifest: Manifest) -> Display:
    return TaskDisplay(STAGE, visibility(stage_level(manifest), None, system=False))
