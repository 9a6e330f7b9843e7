"""Which toolsets are withheld from the model until it looks for their tools."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from apps.agent.tools import Tool
from apps.capabilities.wrappers.texts import one_line
from apps.manifest.manifest import Manifest
from apps.manifest.names import localized
from apps.manifest.tools import InternalTool
from apps.manifest.toolsets import DialMcpToolSet, InternalToolSet, McpToolSet, RestToolSet

Deferrable = RestToolSet | InternalToolSet | McpToolSet | DialMcpToolSet
"""Tools of deployments are few and each is an agent of its own: they are always listed."""

DESCRIPTION_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Group:
    """The tools of one toolset, as they are in this run."""

    name: str
    description: str
    tools: tuple[Tool, ...]

    @property
    def line(self) -> str:
        """The group in the description of the tool that finds it."""
        count = "1 tool" if len(self.tools) == 1 else f"{len(self.tools)} tools"
        text = one_line(self.description, DESCRIPTION_CHARACTERS)
        return f"- {one_line(self.name)} ({count}){f': {text}' if text else ''}"


def deferred_groups(manifest: Manifest, tools: Iterable[Tool], least: int) -> list[Group]:
    """The toolsets that may be withheld and have at least so many tools, in their order."""
    internal = internal_tools(manifest)
    members: dict[str, list[Tool]] = {}
    for tool in tools:
        place = tool.toolset or internal.get(tool.spec.name, "")
        members.setdefault(place, []).append(tool)
    return [
        Group(localized(toolset.name), localized(toolset.description), tuple(found))
        for place, toolset in deferrable(manifest).items()
        if len(found := members.get(place, [])) >= least
    ]


def deferrable(manifest: Manifest) -> dict[str, Deferrable]:
    """The toolsets that do not refuse it, by their place."""
    return {
        place_of(index): toolset
        for index, toolset in enumerate(manifest.tool_sets)
        if isinstance(toolset, Deferrable) and toolset.deferred is not False
    }


def internal_tools(manifest: Manifest) -> dict[str, str]:
    """Name → place of its toolset: internal tools are made by many capabilities, by name."""
    return {
        tool.open_ai_tool.function.name: place_of(index)
        for index, toolset in enumerate(manifest.tool_sets)
        if isinstance(toolset, InternalToolSet) and toolset.enabled
        for tool in toolset.tools
        if isinstance(tool, InternalTool) and tool.enabled
    }


def place_of(index: int) -> str:
    return f"tool_sets[{index}]"
