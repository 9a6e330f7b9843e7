"""Tools that the service runs itself: its own way to write them, and the neutral one."""

from collections.abc import Mapping
from typing import Any

STATIC = "static_function"


def neutral_tool(written: Any) -> Any:
    """The entry of a deployment's `tools`, such as `{"type": "web_search"}`, as a static function."""
    kind = written.get("type") if isinstance(written, Mapping) else None
    if not isinstance(kind, str) or kind in ("", STATIC, "function"):
        return written
    options = {name: value for name, value in written.items() if name != "type"}
    function = {"name": kind, "configuration": options} if options else {"name": kind}
    return {"type": STATIC, STATIC: function}


def service_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A static function as the service reads it: its configuration beside the type."""
    function = tool.get(STATIC)
    if tool.get("type") != STATIC or not isinstance(function, Mapping):
        return dict(tool)
    return {"type": function.get("name"), **(function.get("configuration") or {})}


def with_neutral_tools(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    tools = parameters.get("tools")
    if not isinstance(tools, list):
        return parameters
    return {**parameters, "tools": [neutral_tool(tool) for tool in tools]}
