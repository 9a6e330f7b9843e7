"""Tools that the model would see under one name, as far as the manifest alone tells."""

from __future__ import annotations

from collections.abc import Iterator

from apps.manifest.manifest import Manifest
from apps.manifest.naming import sanitize, visible_name
from apps.manifest.problems import Problem
from apps.manifest.tools import DeploymentTool, InternalTool, PredefinedTool, SimpleDeploymentTool
from apps.manifest.toolsets import DeploymentToolSet, InternalToolSet, RestToolSet


def duplicate_problems(manifest: Manifest) -> list[Problem]:
    """One problem for each tool whose name an earlier enabled tool has already."""
    first: dict[str, str] = {}
    found = []
    for name, path in _names(manifest):
        other = first.setdefault(name, path)
        if other != path:
            message = f"the model would see a second tool named {name!r}; {other} is the first; "
            found.append(Problem(path, f"{message}rename one of them"))
    return found


def _names(manifest: Manifest) -> Iterator[tuple[str, str]]:
    for index, toolset in enumerate(manifest.tool_sets):
        path = f"tool_sets[{index}].tools"
        match toolset:
            case RestToolSet(enabled=True):
                for number, tool in enumerate(toolset.tools):
                    if tool.enabled and not isinstance(tool, PredefinedTool):
                        own = tool.open_ai_tool.function.name
                        yield visible_name(toolset.name, own), f"{path}[{number}].{_FUNCTION}"
            case DeploymentToolSet(enabled=True) | InternalToolSet(enabled=True):
                for number, other in enumerate(toolset.tools):
                    if other.enabled and not isinstance(other, PredefinedTool):
                        name, place = _own_name(other)
                        yield name, f"{path}[{number}].{place}"
            case _:
                pass


_FUNCTION = "open_ai_tool.function.name"


def _own_name(tool: DeploymentTool | InternalTool | SimpleDeploymentTool) -> tuple[str, str]:
    if isinstance(tool, SimpleDeploymentTool):
        return sanitize(tool.deployment_id), "deployment_id"
    return sanitize(tool.open_ai_tool.function.name), _FUNCTION
