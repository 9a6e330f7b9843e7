"""Toolsets of the kind `dial-deployment`: models and applications become tools."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from apps.agent.tools import Tool, ToolSpec
from apps.capabilities.deployment.calls import call
from apps.capabilities.deployment.parameters import (
    FILES,
    OURS,
    RESERVED,
    SESSION,
    complete,
    generated,
    generated_arguments,
)
from apps.capabilities.deployment.targets import Target, declared_target, simple_target
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.wrappers.access import is_usable, usable_ids
from apps.capabilities.wrappers.arguments import Arguments, read_arguments
from apps.capabilities.wrappers.composition import Wishes, wrapped
from apps.capabilities.wrappers.display import Display, display_of, title_of
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.errors import DeploymentNotFound, InitializationIssue, QuickAppError
from apps.manifest.fallbacks import Fallback
from apps.manifest.manifest import Manifest
from apps.manifest.parameters import FunctionParameters
from apps.manifest.tools import DeploymentTool, SimpleDeploymentTool, ToolDisplay
from apps.manifest.toolsets import DeploymentToolSet
from apps.workspace.port import DeploymentInfo

LONGEST_SECONDS = 3600
"""Of a whole call, so that every call ends; the manifest limits how long one may be silent."""

CITATIONS = (
    'Results of tools may contain anchors of the form <cit data-id="…"></cit>. They tie a statement '
    "to its source. When you use such a statement, copy its anchors verbatim and leave them right "
    "behind it; never change, merge or invent one."
)

Make = Callable[[DeploymentInfo], PreparedTool]


@dataclass(frozen=True, slots=True)
class DeferredTool:
    """A tool of a manifest that is made once its deployment is known."""

    toolset: str
    path: str
    deployment_id: str
    tool: PreparedTool | Make
    cites: bool = False


def prepare(manifest: Manifest) -> Open | None:
    deferred: list[DeferredTool] = []
    refused: list[InitializationIssue] = []
    for place, path, toolset, tool in tools_of(manifest):
        cites = bool(tool.propagate_annotations_to_choice)
        if isinstance(tool, SimpleDeploymentTool):
            make: Make = partial(make_simple, tool, toolset, manifest)
            deferred.append(
                DeferredTool(place, f"{path}.deployment_id", tool.deployment_id, make, cites)
            )
            continue
        try:
            prepared = prepare_declared(path, tool, toolset, manifest)
        except InitializationIssue as issue:
            refused.append(issue)
        else:
            deferred.append(
                DeferredTool(place, f"{path}.deployment", tool.deployment.id, prepared, cites)
            )
    if not deferred and not refused:
        return None

    @asynccontextmanager
    async def open_deployments(opening: Opening) -> AsyncIterator[Contribution]:
        usable = await usable_ids(manifest, opening)
        allowed = [tool for tool in deferred if is_usable(tool.deployment_id, usable)]
        made = await asyncio.gather(*(open_tool(tool, opening) for tool in allowed))
        tools = tuple(item for item in made if isinstance(item, Tool))
        issues = tuple(item for item in made if isinstance(item, InitializationIssue))
        cites = any(d.cites for d, m in zip(allowed, made, strict=True) if isinstance(m, Tool))
        instructions = (CITATIONS,) if cites else ()
        yield Contribution(tools, instructions=instructions, issues=(*refused, *issues))

    return open_deployments


def tools_of(
    manifest: Manifest,
) -> Iterator[tuple[str, str, DeploymentToolSet, DeploymentTool | SimpleDeploymentTool]]:
    """Enabled tools: path of the toolset, path of the tool, toolset, tool."""
    for number, toolset in enumerate(manifest.tool_sets):
        if not isinstance(toolset, DeploymentToolSet) or not toolset.enabled:
            continue
        place = f"tool_sets[{number}]"
        for index, tool in enumerate(toolset.tools):
            if isinstance(tool, DeploymentTool | SimpleDeploymentTool) and tool.enabled:
                yield place, f"{place}.tools[{index}]", toolset, tool


async def open_tool(deferred: DeferredTool, opening: Opening) -> Tool | InitializationIssue:
    try:
        info = await opening.workspace.deployment(deferred.deployment_id)
    except DeploymentNotFound:
        return InitializationIssue(
            f"{deferred.path}: there is no deployment {deferred.deployment_id!r} that you may use, "
            "so the application runs without this tool."
        )
    except QuickAppError as error:
        return InitializationIssue(f"{deferred.path}: {error}")
    tool = deferred.tool if isinstance(deferred.tool, PreparedTool) else deferred.tool(info)
    return replace(tool, toolset=deferred.toolset).bind(opening)


def prepare_declared(
    path: str, tool: DeploymentTool, toolset: DeploymentToolSet, manifest: Manifest
) -> PreparedTool:
    """Raises `InitializationIssue`."""
    function = tool.open_ai_tool.function
    if taken := sorted(function.parameters.properties.keys() & RESERVED):
        raise InitializationIssue(
            f"{path}.open_ai_tool.function.parameters.properties.{taken[0]}: this field of a "
            "request cannot be a parameter; rename or remove it."
        )
    mode = tool.conversation_mode
    is_resumable = mode is not None and mode.resumable
    parameters = complete(function.parameters, is_resumable=is_resumable)
    own = OURS if is_resumable else OURS - {SESSION}
    target = declared_target(tool, manifest, frozenset(parameters.properties.keys() - own))
    return make_tool(
        target,
        function.description,
        read_arguments(parameters),
        display_for(manifest, toolset, target.name, parameters, tool.display),
        tool.fallback_configuration,
    )


def make_simple(
    tool: SimpleDeploymentTool,
    toolset: DeploymentToolSet,
    manifest: Manifest,
    info: DeploymentInfo,
) -> PreparedTool:
    mode = tool.conversation_mode
    parameters = generated(info, is_resumable=mode is not None and mode.resumable)
    arguments = generated_arguments(parameters, info)
    names = frozenset(arguments.schema["properties"].keys() - OURS)
    target = simple_target(tool, manifest, names)
    return make_tool(
        target,
        info.description or info.display_name,
        arguments,
        display_for(manifest, toolset, target.name, parameters),
        Fallback(),
    )


def make_tool(
    target: Target,
    description: str,
    arguments: Arguments,
    display: Display,
    fallback: Fallback,
) -> PreparedTool:
    spec = ToolSpec(target.name, description, arguments.schema)
    return wrapped(
        PreparedTool(spec, partial(call, target)),
        # Attachments are filtered while they arrive, so that the stage can show them at once.
        Wishes(
            arguments,
            display,
            LONGEST_SECONDS,
            attachment=None,
            fallback=fallback,
            addresses=frozenset({FILES}),
        ),
    )


def display_for(
    manifest: Manifest,
    toolset: DeploymentToolSet,
    name: str,
    parameters: FunctionParameters,
    tool: ToolDisplay | None = None,
) -> Display:
    title = title_of(toolset.name, name, f"Calling {name} application")
    return display_of(manifest, title, tool=tool, parameters=parameters)


SERVES = frozenset({"tool_sets.dial-deployment", "features.tool_access_filter"})
deployment = Capability("deployment", SERVES, prepare)
