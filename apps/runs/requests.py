"""What is asked of a run, and whether the client's tools go with those of the application."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from apps.agent.messages import Message
from apps.agent.tools import Toolbox, ToolSpec
from apps.errors import BadRequest

OF_THE_PLATFORM = "internal_"
"""Begins the names of tools that no manifest makes."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What is asked: the conversation, and what the client wants of this one answer.

    `external` are the client's own tools by name; `tool_choice` and `response_format` are passed
    to the model as they came. `parameters` are for the orchestrator's calls alone, below those of the
    manifest; `instructions` go below the operator's prompt, or in its place where the
    installation allows that. `textual_results` are the names of tools whose results the messages tell
    as text. `requires_client_tool`: the `tool_choice` holds until a tool of the client was called.
    """

    messages: tuple[Message, ...]
    external: Mapping[str, ToolSpec] = field(default_factory=dict)
    tool_choice: Any = None
    response_format: Any = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    instructions: str = ""
    textual_results: Collection[str] = ()
    requires_client_tool: bool = False


def demanded(choice: Any) -> str:
    """The name of the tool that a `tool_choice` wants to be called, "" for none."""
    function = choice.get("function") if isinstance(choice, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    return name if isinstance(name, str) else ""


def without_own_tools(request: RunRequest, toolbox: Toolbox) -> RunRequest:
    """Where one application drives another, both have the platform's tools: each uses its own."""
    own = {name for name in request.external if name.startswith(OF_THE_PLATFORM)} & toolbox.names
    if not own:
        return request
    rest = {name: spec for name, spec in request.external.items() if name not in own}
    return replace(request, external=rest)


def check_client_tools(request: RunRequest, toolbox: Toolbox) -> None:
    """Raises `BadRequest` when the client's wishes cannot be met."""
    clashes = sorted(request.external.keys() & toolbox.names)
    if clashes:
        names = ", ".join(f"'{name}'" for name in clashes)
        raise BadRequest(
            "Client tool name is taken",
            f"The application already has a tool named {names}; rename the tool in 'tools'.",
        )
    if own := sorted(toolbox.names.intersection(request.textual_results)):
        names = ", ".join(f"'{name}'" for name in own)
        raise BadRequest(
            "Results of the application's own tools are not accepted",
            f"The messages have results of the application's own tools {names}, which are internal "
            "to it. Leave these messages out.",
        )
    choice = request.tool_choice
    forced = choice == "required" or isinstance(choice, Mapping)
    there = toolbox.listed.keys() | request.external.keys()
    if forced and not there:
        raise BadRequest(
            "tool_choice requires at least one tool to be configured",
            "Cannot enforce tool_choice: no tools are available. Configure at least one tool "
            "set or use tool_choice='auto'.",
        )
    if (name := demanded(choice)) and name not in there:
        raise BadRequest(
            "tool_choice names no tool that there is",
            f"Cannot enforce tool_choice: no tool is named '{name[:64]}'. Name one that the "
            "application or the request has, or use tool_choice='auto'.",
        )
