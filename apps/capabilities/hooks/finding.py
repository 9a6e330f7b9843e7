"""The tool that a hook means, among all the tools of a run."""

from __future__ import annotations

from apps.agent.tools import Tool, Toolbox
from apps.manifest.hooks import Hook
from apps.manifest.manifest import Manifest
from apps.manifest.names import sanitize, visible_name
from apps.manifest.toolsets import PredefinedToolSet, ToolSet


def find_tool(hook: Hook, manifest: Manifest, toolbox: Toolbox) -> Tool | None:
    """Tools that the model may not call are found as well."""
    tools = {**toolbox.hidden, **toolbox.unlisted, **toolbox.listed}
    if hook.toolset_name is None:
        return tools.get(hook.tool_name)
    exact = tools.get(visible_name(hook.toolset_name, hook.tool_name))
    if exact is not None:
        return exact
    # A toolset of DIAL's has the name in front of its tools that Core knows it by.
    places = {
        f"tool_sets[{index}]"
        for index, toolset in enumerate(manifest.tool_sets)
        if hook.toolset_name in names_of(toolset)
    }
    ending = f"_{sanitize(hook.tool_name)}"
    found = [
        tool
        for tool in tools.values()
        if tool.toolset in places
        and (tool.spec.name == hook.tool_name or tool.spec.name.endswith(ending))
    ]
    return min(found, key=lambda tool: len(tool.spec.name), default=None)


def names_of(toolset: ToolSet) -> frozenset[str]:
    """A name in several languages is known by each of them."""
    if isinstance(toolset, PredefinedToolSet):
        return frozenset()
    return frozenset((toolset.name,) if isinstance(toolset.name, str) else toolset.name.values())
