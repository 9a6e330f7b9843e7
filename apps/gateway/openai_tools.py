"""Parses the tools in chat completions requests: functions, custom tools and the tool choice."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal

import msgspec
from msgspec import Struct

from apps.agent.call_arguments import text_arguments
from apps.agent.tools import ToolSpec
from apps.doors.bodies import invalid, invalid_structure, shorten_text
from apps.doors.client_conversation import ChatMessage, FunctionCall, Object, RequestedCall
from apps.doors.client_parameters import TEXT_PARAMETERS, text_description
from apps.gateway import chat_requests
from apps.gateway.chat_requests import ChatRequest, RequestedFunction, RequestTool

FUNCTION, CUSTOM, ALLOWED = "function", "custom", "allowed_tools"


class CustomCall(Struct, gc=False):
    name: str
    input: str = ""


class OpenAICall(RequestedCall, kw_only=True):
    function: FunctionCall | None = None  # type: ignore[assignment]
    custom: CustomCall | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if a field is missing, which msgspec reports with the call's path."""
        if self.custom is not None:
            self.function = FunctionCall(self.custom.name, text_arguments(self.custom.input))
        elif self.function is None:
            raise ValueError("Object missing required field `function`")


class OpenAIMessage(ChatMessage):
    tool_calls: list[OpenAICall] | None = None  # type: ignore[assignment]


class Grammar(Struct):
    definition: str
    syntax: str = ""


class CustomFormat(Struct):
    type: Literal["text", "grammar"] = "text"
    grammar: Grammar | None = None


class RequestedCustom(Struct):
    name: chat_requests.ToolName
    description: str | None = None
    format: CustomFormat | None = None


class OpenAITool(RequestTool):
    custom: RequestedCustom | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if a field is missing, which msgspec reports with the tool's path."""
        if self.type != CUSTOM:
            self.custom = None
        elif self.custom is None:
            raise ValueError("Object missing required field `custom`")
        else:
            self.type, self.function = FUNCTION, to_function(self.custom)


def to_function(custom: RequestedCustom) -> RequestedFunction:
    """Convert a custom tool to the function that the model sees. The function has one text
    parameter.
    """
    grammar = None if custom.format is None else custom.format.grammar
    written = () if grammar is None else (grammar.definition, grammar.syntax)
    return RequestedFunction(
        custom.name, text_description(custom.description or "", *written), TEXT_PARAMETERS
    )


class AllowedTool(Struct):
    type: str
    function: Object | None = None
    custom: Object | None = None


class AllowedTools(Struct):
    mode: Literal["auto", "required"]
    tools: list[AllowedTool]


def read_choice(request: ChatRequest) -> frozenset[str] | None:
    """Convert the request's `tool_choice` to the format that all APIs share. Return the names of
    the `allowed_tools`, or None if all tools are allowed. Raises `BadRequest` if the choice is
    invalid.
    """
    choice = request.tool_choice
    if not isinstance(choice, dict):
        return None
    if choice.get("type") == CUSTOM:
        request.tool_choice = {"type": FUNCTION, FUNCTION: choice.get(CUSTOM)}
    if choice.get("type") != ALLOWED:
        return None
    try:
        allowed = msgspec.convert(choice.get(ALLOWED), AllowedTools)
    except msgspec.ValidationError as error:
        raise invalid_structure(str(error), f"tool_choice.{ALLOWED}") from error
    there = {tool.function.name for tool in request.tools or () if tool.function is not None}
    names = frozenset(
        read_name(tool, f"tool_choice.{ALLOWED}.tools.{index}", there)
        for index, tool in enumerate(allowed.tools)
    )
    request.tool_choice = allowed.mode
    return names


def read_name(tool: AllowedTool, path: str, there: Collection[str]) -> str:
    """Return the name of an allowed tool. Raises `BadRequest` if it is not in `there`, the names of
    the request's tools.
    """
    told = {FUNCTION: tool.function, CUSTOM: tool.custom}.get(tool.type) or {}
    name = told.get("name")
    if not isinstance(name, str):
        raise invalid(path, "Use {'type': 'function', 'function': {'name': …}}.")
    if name not in there:
        raise invalid(path, f"'tools' has no tool named '{shorten_text(name)}'.")
    return name


def to_specs(tools: Sequence[OpenAITool]) -> dict[str, ToolSpec]:
    """Return the specifications of the client's tools by name. Raises `BadRequest` if a tool is
    invalid.
    """
    specs = chat_requests.to_specs(tools)
    for index, tool in enumerate(tools):
        if tool.type != FUNCTION or tool.function is None:
            continue
        name, strict = tool.function.name, tool.function.strict
        if not isinstance(strict, bool | None):
            raise invalid(f"tools.{index}.function.strict", "Send true, false or null.")
        if strict is not None or tool.custom is not None:
            specs[name] = replace(specs[name], strict=strict, takes_text=tool.custom is not None)
    return specs
