"""Parses the client's tools in a Responses API request: functions, custom tools and namespaces.

The model sees a namespaced tool as `namespace__tool`, because two namespaces may have a tool with
the same name. Tool types that run on OpenAI's servers are ignored.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from msgspec import Struct

from apps.agent.tools import ToolSpec
from apps.doors.bodies import converted, invalid, shorten_text
from apps.doors.client_conversation import Object
from apps.doors.client_parameters import NO_TOOLS, TEXT_PARAMETERS, ClientTools, text_description

FUNCTION, CUSTOM, NAMESPACE, ALLOWED = "function", "custom", "namespace", "allowed_tools"
JOINT = "__"
NO_PARAMETERS = {"type": "object", "properties": {}}
MODES = ("auto", "none", "required")


class ResponseFunction(Struct):
    name: str
    description: str | None = None
    parameters: Object | None = None
    strict: bool | None = None

    @property
    def spec(self) -> ToolSpec:
        parameters = self.parameters or NO_PARAMETERS
        return ToolSpec(self.name, self.description or "", parameters, self.strict)


class ResponseToolFormat(Struct):
    type: Literal["text", "grammar"] = "text"
    syntax: str = ""
    definition: str = ""


class Custom(Struct):
    name: str
    description: str | None = None
    format: ResponseToolFormat | None = None

    @property
    def spec(self) -> ToolSpec:
        rule = self.format or ResponseToolFormat()
        described = text_description(self.description or "", rule.definition, rule.syntax)
        return ToolSpec(self.name, described, TEXT_PARAMETERS, takes_text=True)


class Namespace(Struct):
    name: str
    tools: list[Object]


TYPES: Mapping[str, type[ResponseFunction] | type[Custom]] = {
    FUNCTION: ResponseFunction,
    CUSTOM: Custom,
}


def qualified(namespace: str | None, name: str) -> str:
    """Return the tool name that the model sees. `namespace` is None for a tool outside all
    namespaces.
    """
    return f"{namespace}{JOINT}{name}" if namespace else name


def read_tools(written: Sequence[Object] | None) -> ClientTools:
    """Return the tools of a request. Raises `BadRequest` if a tool is invalid."""
    if not written:
        return NO_TOOLS
    specs: dict[str, ToolSpec] = {}
    namespaces: dict[str, tuple[str, str]] = {}
    ignored = set()
    for path, namespace, tool in flat(written):
        kind = tool.get("type")
        if kind not in (FUNCTION, CUSTOM):
            ignored.add(str(kind))
            continue
        spec = converted(tool, TYPES[kind], path).spec
        name = qualified(namespace, spec.name)
        if name in specs:
            raise invalid(
                f"{path}.name", f"Two tools are named '{shorten_text(name)}'. Rename one."
            )
        specs[name] = replace(spec, name=name) if namespace else spec
        if namespace:
            namespaces[name] = (namespace, spec.name)
    return ClientTools(specs, namespaces, frozenset(ignored))


def flat(written: Sequence[Object]) -> Iterator[tuple[str, str | None, Object]]:
    """Yield the path, the namespace (or None) and the definition of each tool. Raises `BadRequest`
    if a namespace is invalid.
    """
    for index, tool in enumerate(written):
        path = f"tools.{index}"
        if tool.get("type") != NAMESPACE:
            yield path, None, tool
            continue
        namespace = converted(tool, Namespace, path)
        for inner, one in enumerate(namespace.tools):
            yield f"{path}.tools.{inner}", namespace.name, one


# --- Choice -----------------------------------------------------------------------------------


class NamedTool(Struct):
    type: Literal["function", "custom"]
    name: str
    namespace: str | None = None

    @property
    def full_name(self) -> str:
        return qualified(self.namespace, self.name)


class ResponseAllowedTools(Struct):
    mode: Literal["auto", "required"]
    tools: list[Object]


class ResponseToolChoice(Struct, frozen=True):
    """A parsed tool choice."""

    choice: str | Object | None = None
    """The choice in the format of a `ModelRequest`."""
    allowed: frozenset[str] | None = None
    """The names of the tools that the model may call, or None if it may call all of them."""
    is_ignored: bool = False
    """True if only OpenAI's servers can run the chosen tool."""


def read_choice(written: str | Object | None, there: Collection[str]) -> ResponseToolChoice:
    """Parse a tool choice. `there` are the names of the request's tools. Raises `BadRequest` if the
    choice is invalid.
    """
    if written is None or written in MODES:
        return ResponseToolChoice(written)
    if isinstance(written, str):
        raise invalid("tool_choice", "Use 'auto', 'none', 'required' or a tool.")
    kind = written.get("type")
    if kind in (FUNCTION, CUSTOM):
        name = read_name(written, "tool_choice", there)
        return ResponseToolChoice({"type": FUNCTION, FUNCTION: {"name": name}})
    if kind != ALLOWED:
        return ResponseToolChoice(is_ignored=True)  # OpenAI runs this tool.
    allowed = converted(written, ResponseAllowedTools, "tool_choice")
    names = (
        read_name(tool, f"tool_choice.tools.{index}", there)
        for index, tool in enumerate(allowed.tools)
        if tool.get("type") in (FUNCTION, CUSTOM)
    )
    return ResponseToolChoice(allowed.mode, frozenset(names))


def read_name(written: Object, path: str, there: Collection[str]) -> str:
    """Return the name of the tool in a `tool_choice`. Raises `BadRequest` if the request has no
    such tool.
    """
    name = converted(written, NamedTool, path).full_name
    if name not in there:
        raise invalid(path, f"'tools' has no tool named '{shorten_text(name)}'.")
    return name
