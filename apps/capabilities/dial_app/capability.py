"""Toolsets of the kind `dial-app`: applications of DIAL, over MCP where they speak it, else asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from apps.capabilities.dial_app.applications import PreparableApp
from apps.capabilities.mcp.capability import call_seconds
from apps.capabilities.mcp.toolset_opening import PreparableToolset, open_toolsets
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.wrappers.access import is_usable, usable_ids
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.errors import InitializationIssue
from apps.manifest.manifest import Manifest
from apps.manifest.toolsets import DialAppToolSet


def prepare(manifest: Manifest) -> Open | None:
    seconds = call_seconds(manifest)
    apps = [
        PreparableApp(f"tool_sets[{index}]", node, manifest, seconds)
        for index, node in enumerate(manifest.tool_sets)
        if isinstance(node, DialAppToolSet) and node.enabled
    ]
    if not apps:
        return None

    @asynccontextmanager
    async def open_apps(opening: Opening) -> AsyncIterator[Contribution]:
        branches = await choose(apps, manifest, opening)
        over_mcp = [one for one in branches if isinstance(one, PreparableToolset)]
        refused = [one for one in branches if isinstance(one, InitializationIssue)]
        asked = [one.bind(opening) for one in branches if isinstance(one, PreparedTool)]
        async with open_toolsets(over_mcp, opening, refused, asked) as contribution:
            yield contribution

    return open_apps


async def choose(
    apps: Sequence[PreparableApp], manifest: Manifest, opening: Opening
) -> list[PreparableToolset | PreparedTool | InitializationIssue]:
    """Which way each application goes, without those that the caller may not use."""
    usable = await usable_ids(manifest, opening)
    found = (app.choose(opening) for app in apps if is_usable(app.node.deployment_id, usable))
    return list(await asyncio.gather(*found))


dial_app = Capability("dial_app", frozenset({"tool_sets.dial-app"}), prepare)
