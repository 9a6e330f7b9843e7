"""Defines toolsets of the kinds `mcp` and `dial-mcp`: the tools and resources of MCP servers."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from apps.capabilities.mcp.sessions.endpoints import endpoint_problem
from apps.capabilities.mcp.toolset_opening import PreparableToolset, open_toolsets
from apps.capabilities.mcp.toolsets.declared import Toolset
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.wrappers.usable_deployments import is_usable_deployment, usable_ids
from apps.errors import InitializationIssue
from apps.manifest.kinds.dial_mcp import DialMcpToolSet
from apps.manifest.kinds.mcp import McpToolSet
from apps.manifest.manifest import Manifest
from apps.workspace.loading.shared_loads import rules_of


def read_toolsets(manifest: Manifest) -> tuple[list[PreparableToolset], list[InitializationIssue]]:
    """Return the usable toolsets of the manifest, and an issue for each invalid URL or
    authorization.
    """
    toolsets: list[PreparableToolset] = []
    issues: list[InitializationIssue] = []
    seconds = rules_of(manifest).seconds
    for index, node in enumerate(manifest.tool_sets):
        if not isinstance(node, McpToolSet | DialMcpToolSet) or not node.enabled:
            continue
        path = f"tool_sets[{index}]"
        workspace_id = node.id if isinstance(node, DialMcpToolSet) else ""
        if isinstance(node, McpToolSet):
            field, problem = endpoint_problem(node.mcp_server_info)
            if problem:
                issues.append(InitializationIssue(f"{path}.mcp_server_info.{field}: {problem}"))
                continue
        toolsets.append(PreparableToolset(Toolset(path, node, manifest, seconds, workspace_id)))
    return toolsets, issues


async def without_forbidden(
    toolsets: Sequence[PreparableToolset], manifest: Manifest, opening: Opening
) -> list[PreparableToolset]:
    """Drop DIAL toolsets that the caller may not use, if the manifest enables this filter."""
    if not any(one.toolset.workspace_id for one in toolsets):
        return list(toolsets)
    usable = await usable_ids(manifest, opening)
    return [
        one
        for one in toolsets
        if not one.toolset.workspace_id or is_usable_deployment(one.toolset.workspace_id, usable)
    ]


def prepare(manifest: Manifest) -> Open | None:
    toolsets, issues = read_toolsets(manifest)
    if not toolsets and not issues:
        return None

    @asynccontextmanager
    async def open_mcp(opening: Opening) -> AsyncIterator[Contribution]:
        usable = await without_forbidden(toolsets, manifest, opening)
        async with open_toolsets(usable, opening, issues) as contribution:
            yield contribution

    return open_mcp


mcp = Capability("mcp", frozenset({"tool_sets.mcp", "tool_sets.dial-mcp"}), prepare)
