"""Toolsets of the kind `dial-app`, together with those that are MCP servers anyway.

They are one capability, because one request asks the person to sign in to all of them, and one
tool reads the resources of all.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from apps.capabilities.dial_app.branches import PreparableApp
from apps.capabilities.mcp import capability as mcp_capability
from apps.capabilities.mcp.opened import PreparableToolset, joined, open_all
from apps.capabilities.mcp.pool import current_pool
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.wrappers.access import is_usable, usable_ids
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.errors import InitializationIssue
from apps.manifest.manifest import Manifest
from apps.manifest.toolsets import DialAppToolSet


def prepare(manifest: Manifest) -> Open | None:
    seconds = mcp_capability.call_seconds(manifest)
    apps = [
        PreparableApp(f"tool_sets[{index}]", node, manifest, seconds)
        for index, node in enumerate(manifest.tool_sets)
        if isinstance(node, DialAppToolSet) and node.enabled
    ]
    if not apps:
        return mcp_capability.prepare(manifest)
    written = mcp_capability.read_toolsets(manifest)

    @asynccontextmanager
    async def open_toolsets(opening: Opening) -> AsyncIterator[Contribution]:
        async with current_pool().leases() as leases:
            toolsets = await mcp_capability.allowed(written.toolsets, manifest, opening)
            branches = await choose(apps, manifest, opening)
            over_mcp = [one for one in branches if isinstance(one, PreparableToolset)]
            refused = [one for one in branches if isinstance(one, InitializationIssue)]
            opened = await open_all([*toolsets, *over_mcp], opening, leases)
            contribution = joined(opened, (*written.issues, *refused), opening)
            asked = (one.bind(opening) for one in branches if isinstance(one, PreparedTool))
            yield replace(contribution, tools=(*contribution.tools, *asked))

    return open_toolsets


async def choose(
    apps: Sequence[PreparableApp], manifest: Manifest, opening: Opening
) -> list[PreparableToolset | PreparedTool | InitializationIssue]:
    """Which way each application goes, without those that the caller may not use."""
    usable = await usable_ids(manifest, opening)
    found = (app.choose(opening) for app in apps if is_usable(app.node.deployment_id, usable))
    return list(await asyncio.gather(*found))


SERVES = mcp_capability.mcp.serves | {"tool_sets.dial-app"}
dial_app = Capability("dial_app", SERVES, prepare)
