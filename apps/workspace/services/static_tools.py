"""Converts the tools that a service runs itself from the service's format to the provider-neutral
format, and back.
"""

import logging
from collections.abc import Mapping
from typing import Any

logger = logging.getLogger(__name__)

TOOLS = "tools"
STATIC = "static_function"


def neutral_tool(written: Any) -> Any:
    """Convert a tool in a deployment's default parameters, such as `{"type": "web_search"}`, to a
    static function in the provider-neutral format.
    """
    kind = written.get("type") if isinstance(written, Mapping) else None
    if not isinstance(kind, str) or kind in ("", STATIC, "function"):
        return written
    options = {name: value for name, value in written.items() if name != "type"}
    function = {"name": kind, "configuration": options} if options else {"name": kind}
    return {"type": STATIC, STATIC: function}


def service_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a static function to a tool in the service's format, which puts the configuration
    next to the type.
    """
    function = tool.get(STATIC)
    if tool.get("type") != STATIC or not isinstance(function, Mapping):
        return dict(tool)
    return {"type": function.get("name"), **(function.get("configuration") or {})}


def with_neutral_tools(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    tools = parameters.get(TOOLS)
    if not isinstance(tools, list):
        return parameters
    return {**parameters, TOOLS: [neutral_tool(tool) for tool in tools]}


def listed_tools(defaults: Mapping[str, Any], deployment: str) -> tuple[Mapping[str, Any], ...]:
    """Return the static functions in a deployment's default parameters. The deployment's service
    runs these tools itself.
    """
    listed = defaults.get(TOOLS)
    found = []
    for number, tool in enumerate(listed if isinstance(listed, (list, tuple)) else ()):
        if is_static(tool):
            found.append(tool)
        else:
            logger.debug("defaults.tools.%d of %s is not a static function", number, deployment)
    return tuple(found)


def is_static(tool: Any) -> bool:
    if not isinstance(tool, Mapping) or tool.get("type") != STATIC:
        return False
    function = tool.get(STATIC)
    name = function.get("name") if isinstance(function, Mapping) else None
    return isinstance(name, str) and bool(name)
