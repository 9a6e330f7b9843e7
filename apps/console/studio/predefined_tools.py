"""Describes the predefined toolsets and tools that users can add to an application."""

from collections.abc import Iterator
from typing import Any

from apps.catalog.content.installed import installed_content
from apps.catalog.content.items import LayerItem
from apps.catalog.content.layers import Content
from apps.console.studio.tool_cards import tool_name, tool_names, toolset_name
from apps.manifest.toolsets.kinds import KINDS, WRITTEN, tool_types

TOOLSETS = {tool_types(schema)[0]: name for name, schema in KINDS.items() if schema in WRITTEN}
"""The type of toolset that can contain a tool, by the type of the tool."""


def predefined_toolsets() -> list[dict[str, Any]]:
    """Describe the predefined toolsets, followed by the predefined tools that no toolset
    contains.
    """
    content = installed_content()
    toolsets = list(described_toolsets(content))
    covered = {name for one in toolsets for name in one.pop("covers")}
    return [*toolsets, *described_tools(content, covered)]


def described_toolsets(content: Content) -> Iterator[dict[str, Any]]:
    for template, item in sorted(content.items["toolset"].items()):
        if item.problem or not isinstance(item.value, dict):
            continue
        tools = item.value.get("tools") or ()
        yield {
            "title": toolset_name(item.value) or template,
            "description": describe_item(item),
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
        kind = TOOLSETS.get(str(value.get("type")))
        if kind is None:
            continue
        tool = {"type": "predefined-tool", "template_name": template}
        yield {
            "title": template.replace("_", " "),
            "description": describe_item(item),
            "kind": kind,
            "tools": [tool_name(value, content)],
            "toolset": {"type": kind, "name": template, "tools": [tool]},
        }


def describe_item(item: LayerItem) -> str:
    """Return the description of a toolset or tool, or else that of the tool's function, or else
    "".
    """
    value = item.value
    told = value.get("open_ai_tool")
    function = told.get("function") if isinstance(told, dict) else None
    words = value.get("description") or (function or {}).get("description") or ""
    return toolset_name({"name": words})
