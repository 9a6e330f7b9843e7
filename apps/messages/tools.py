"""Parses the client's tools and the tool choice in a Messages API request. Only tools of the type
`custom` have a schema in the request; all others are ignored.
"""

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from apps.agent.tools import ToolSpec
from apps.doors.bodies import converted, invalid, shorten_text
from apps.doors.client_conversation import Object
from apps.doors.client_parameters import ClientTools

CHOICES = {"auto": "auto", "any": "required", "none": "none"}
"""Maps the types of the Messages API's `tool_choice` to the tool choices of a `ModelRequest`."""


class MessageTool(Struct):
    name: str
    input_schema: Object
    description: str | None = None
    strict: bool | None = None


def read_tools(written: Sequence[Object] | None) -> ClientTools:
    """Return the client's tools in a request. Raises `BadRequest` if a tool is invalid."""
    specs: dict[str, ToolSpec] = {}
    ignored = set()
    for index, tool in enumerate(written or ()):
        kind = tool.get("type") or "custom"
        if kind != "custom":
            ignored.add(str(kind))
            continue
        found = converted(tool, MessageTool, f"tools.{index}")
        if found.name in specs:
            raise invalid(
                f"tools.{index}.name",
                f"Two tools are named '{shorten_text(found.name)}'. Rename one.",
            )
        spec = ToolSpec(found.name, found.description or "", found.input_schema, found.strict)
        specs[found.name] = spec
    return ClientTools(specs, ignored=frozenset(ignored))


def read_choice(
    written: Mapping[str, object] | None, there: Collection[str]
) -> str | Object | None:
    """Return the tool choice in the format of a `ModelRequest`, or None if the request has none.
    `there` contains the names of the request's tools. Raises `BadRequest` if the choice is invalid.
    """
    match written:
        case None:
            return None
        case {"type": str(kind)} if kind in CHOICES:
            return CHOICES[kind]
        case {"type": "tool", "name": str(name)} if name in there:
            return {"type": "function", "function": {"name": name}}
        case {"type": "tool", "name": str(name)}:
            raise invalid("tool_choice.name", f"'tools' has no tool named '{shorten_text(name)}'.")
        case _:
            raise invalid("tool_choice", "Use type 'auto', 'any', 'none', or 'tool' with a name.")
