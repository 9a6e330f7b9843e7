"""Toolsets of the kind `mcp`: the tools and resources of MCP servers, over pooled sessions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from django.conf import settings

from apps.capabilities.mcp.endpoints import endpoint_problem
from apps.capabilities.mcp.opened import PreparableToolset, joined
from apps.capabilities.mcp.toolsets import Toolset
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.errors import InitializationIssue
from apps.manifest.manifest import Manifest
from apps.manifest.toolsets import McpToolSet


def prepare(manifest: Manifest) -> Open | None:
    toolsets: list[PreparableToolset] = []
    issues: list[InitializationIssue] = []
    seconds = manifest.tool_defaults.timeout_seconds or settings.DEFAULT_TOOL_TIMEOUT_SECONDS
    for index, node in enumerate(manifest.tool_sets):
        if not isinstance(node, McpToolSet) or not node.enabled:
            continue
        path = f"tool_sets[{index}]"
        field, problem = endpoint_problem(node.mcp_server_info)
        if problem:
            issues.append(InitializationIssue(f"{path}.mcp_server_info.{field}: {problem}"))
        else:
            toolsets.append(PreparableToolset(Toolset(path, node, manifest, seconds)))
    if not toolsets and not issues:
        return None

    @asynccontextmanager
    async def open_mcp(opening: Opening) -> AsyncIterator[Contribution]:
        async with AsyncExitStack() as stack:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(toolset.open(opening, stack)) for toolset in toolsets]
            yield joined((task.result() for task in tasks), issues, opening)

    return open_mcp


mcp = Capability("mcp", frozenset({"tool_sets.mcp"}), prepare)
