"""The predefined toolsets and tools of this installation, in words, for somebody who adds one."""

from collections.abc import Iterator
from typing import Any

from apps.catalog.content.installed import installed
from apps.catalog.content.items import Item
from apps.catalog.content.layers import Content
from apps.console.studio.tool_cards import name_of, tool_name, tool_names

KINDS = {
    "restapi-tool": "rest-api",
    "internal-tool": "internal",
    "deployment-tool": "dial-deployment",
}
"""The kind of toolset that a tool of each type stands in."""


def predefined_toolsets() -> list[dict[str, Any]]:
    """Toolsets first, then the tools that are in none of them."""
    content = installed()
    toolsets = list(described_toolsets(content))
    covered = {name for one in toolsets for name in one.pop("covers")}
    return [*toolsets, *described_tools(content, covered)]


def described_toolsets(content: Content) -> Iterator[dict[str, Any]]:
    for template, item in sorted(content.items["toolset"].items()):
        if item.problem or not isinstance(item.value, dict):
            continue
        tools = item.value.get("tools") or ()
        yield {
            "title": name_of(item.value) or template,
            "description": described(item),
            "kind": str(item.value.get("type") or ""),
            "tools": tool_names(item.value, content),
            "covers": [tool.get("template_name") for tool in tools if isinstance(tool, dict)],
            "toolset": {"type": "predefined", "template_name": template},
        }


def described_tools(content: Content, covered: set[Any]) -> Iterator[dict[str, Any]]:
    for template, item in sorted(content.items["tool"].items()):
        value = item.value
        if item.problem or template in covered or not isinstance(value, dict):
            continue
        kind = KINDS.get(str(value.get("type")))
        if kind is None:
            continue
        tool = {"type": "predefined-tool", "template_name": template}
        yield {
            "title": template.replace("_", " "),
            "description": described(item),
            "kind": kind,
            "tools": [tool_name(value, content)],
            "toolset": {"type": kind, "name": template, "tools": [tool]},
        }


def described(item: Item) -> str:
    """Its own description, else that of its function."""
    value = item.value
    told = value.get("open_ai_tool")
    function = told.get("function") if isinstance(told, dict) else None
    words = value.get("description") or (function or {}).get("description") or ""
    return name_of({"name": words})
