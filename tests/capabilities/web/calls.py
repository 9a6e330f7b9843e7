"""The tool as an application has it, with short calls."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from apps.agent.stages import silent
from apps.agent.tools import Tool
from apps.capabilities.registry import Capability, Opening
from apps.capabilities.web.capability import web
from apps.errors import InvalidParameter
from apps.workspace.dial.workspace import DialWorkspace
from apps.workspace.loading.shared_loads import Loading, rules_of
from apps.workspace.local.workspace import LocalWorkspace
from tests.capabilities.manifests import CALLER, manifest, use

WORKSPACE = LocalWorkspace(CALLER)


@asynccontextmanager
async def one_tool(
    capability: Capability = web,
    features: Mapping[str, Any] | None = None,
    workspace: LocalWorkspace | DialWorkspace = WORKSPACE,
) -> AsyncIterator[Tool]:
    """Return the only tool of a run. Its caller is `CALLER` unless the workspace has another one."""
    given = manifest(features={"web_fetch": {"enabled": True}} if features is None else features)
    opener = capability.prepare(given)
    assert opener is not None
    opening = Opening(workspace, workspace.caller, silent, loading=Loading(rules_of(given)))
    async with opener(opening) as contribution:
        (found,) = contribution.tools
        yield found


def web_features(**wanted: Any) -> dict[str, Any]:
    return {"web_fetch": {"enabled": True, **wanted}}


async def refused(found: Tool, **arguments: Any) -> str:
    """Return the error for the model."""
    try:
        result = await use(found, **arguments)
    except InvalidParameter as error:
        return str(error)
    raise AssertionError(f"It was not refused but answered with {result.content!r}")
