"""Defines toolsets of the kind `dial-deployment`, which turn models and applications into tools."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from apps.agent.tools import Tool
from apps.capabilities.deployment.calls import call_deployment
from apps.capabilities.deployment.parameters import (
    FILES,
    RESERVED,
    complete_parameters,
    own_parameters,
)
from apps.capabilities.deployment.targets import (
    Target,
    declared_target,
    find_deployment,
    read_simple,
)
from apps.capabilities.registry import Capability, Contribution, Open, Opening, PreparedTool
from apps.capabilities.wrappers.approval import Risk
from apps.capabilities.wrappers.approval_rules import ApprovalRules, approval_rules
from apps.capabilities.wrappers.arguments import Arguments, read_arguments
from apps.capabilities.wrappers.composition import ToolOptions, prepared_tool
from apps.capabilities.wrappers.display import Display, display_of, tool_title
from apps.capabilities.wrappers.usable_deployments import is_usable_deployment, usable_ids
from apps.errors import DeploymentNotFound, InitializationIssue
from apps.manifest.kinds.deployment import DeploymentToolSet
from apps.manifest.manifest import Manifest
from apps.manifest.nodes import enabled_nodes
from apps.manifest.toolsets.fallback_strategies import Fallback
from apps.manifest.toolsets.tools import DeploymentTool, SimpleDeploymentTool, as_stated
from apps.workspace.port import DeploymentInfo

LONGEST_SECONDS = 3600
"""The timeout for a whole call, in seconds. The manifest's timeout is only an idle timeout."""

CITATIONS = (
    'Results of tools may contain anchors of the form <cit data-id="…"></cit>. They tie a '
    "statement to its source. When you use such a statement, copy its anchors verbatim and put "
    "them directly after it; never change, merge or invent one."
)

Make = Callable[[DeploymentInfo], PreparedTool]


@dataclass(frozen=True, slots=True)
class DeferredTool:
    """A deployment tool that is created once the features of its deployment are known."""

    toolset: str
    path: str
    deployment_id: str
    make: Make
    cites: bool = False
    is_repeatable: bool | None = None
    """The value of `is_repeatable` in the manifest, or None if it is not set."""
    is_optional: bool = False


def prepare(manifest: Manifest) -> Open | None:
    deferred: list[DeferredTool] = []
    refused: list[InitializationIssue] = []
    for place, path, toolset, tool in tools_of(manifest):
        try:
            deferred.append(defer(place, path, toolset, tool, manifest))
        except InitializationIssue as issue:
            refused.append(issue)
    if not deferred and not refused:
        return None

    @asynccontextmanager
    async def open_deployments(opening: Opening) -> AsyncIterator[Contribution]:
        usable = await usable_ids(manifest, opening)
        allowed = [tool for tool in deferred if is_usable_deployment(tool.deployment_id, usable)]
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
    """Yield a tuple for each enabled deployment tool: the toolset's path, the tool's path, the
    toolset and the tool.
    """
    for place, toolset in enabled_nodes(DeploymentToolSet, manifest.tool_sets, "tool_sets"):
        for index, tool in enumerate(toolset.tools):
            if isinstance(tool, DeploymentTool | SimpleDeploymentTool) and tool.enabled:
                yield place, f"{place}.tools[{index}]", toolset, tool


def defer(
    place: str,
    path: str,
    toolset: DeploymentToolSet,
    tool: DeploymentTool | SimpleDeploymentTool,
    manifest: Manifest,
) -> DeferredTool:
    """Prepare a tool that is created only once its deployment is known. Raises
    `InitializationIssue` if a parameter has a reserved name.
    """
    cites, stated = bool(tool.propagate_annotations_to_choice), toolset.is_repeatable
    if isinstance(tool, SimpleDeploymentTool):
        make: Make = partial(make_simple, tool, toolset, manifest)
        return DeferredTool(place, f"{path}.deployment_id", tool.deployment_id, make, cites, stated)
    prepared = {risk: prepare_declared(path, tool, toolset, manifest, risk) for risk in RISKS}
    stated = stated if tool.is_repeatable is None else tool.is_repeatable
    field, id = f"{path}.deployment", tool.deployment.id
    return DeferredTool(
        place,
        field,
        id,
        lambda info: prepared[risk_of(info)],
        cites,
        stated,
        tool.is_optional,
    )


async def open_tool(deferred: DeferredTool, opening: Opening) -> Tool | InitializationIssue | None:
    """Return the tool, or an issue if its deployment cannot be used. Return None for an optional
    tool whose deployment does not exist.
    """
    found = await find_deployment(deferred.path, deferred.deployment_id, "tool", opening)
    if isinstance(found, InitializationIssue):
        is_missing = isinstance(found.__cause__, DeploymentNotFound)
        return None if deferred.is_optional and is_missing else found
    repeats = as_stated(deferred.is_repeatable, otherwise=is_known_repeatable(found))
    tool = replace(deferred.make(found), toolset=deferred.toolset, is_repeatable=repeats)
    return tool.bind(opening)


def is_known_repeatable(info: DeploymentInfo) -> bool:
    """Return True if a call to the deployment can safely be repeated.

    A model has no side effects. An application on this site records its steps, and a repeated call
    resumes after them.
    """
    return info.is_recorded or not info.is_application


RISKS: tuple[Risk, Risk] = ("read-only", "changes")


def risk_of(info: DeploymentInfo) -> Risk:
    """Return the risk of a call: an application may change data, but a model is read-only."""
    return "changes" if info.is_application else "read-only"


def prepare_declared(
    path: str, tool: DeploymentTool, toolset: DeploymentToolSet, manifest: Manifest, risk: Risk
) -> PreparedTool:
    """Prepare a tool that the manifest fully declares. Raises `InitializationIssue` if a parameter
    has a reserved name.
    """
    function = tool.open_ai_tool.function
    if taken := sorted(reserved_names(tool)):
        raise InitializationIssue(
            f"{path}.open_ai_tool.function.parameters.properties.{taken[0]}: this name is "
            "reserved for a field of the request. Rename or remove the parameter."
        )
    mode = tool.conversation_mode
    is_resumable = mode is not None and mode.resumable
    own = own_parameters(tool, is_resumable=is_resumable)
    parameters = complete_parameters(function.parameters, own)
    target = declared_target(tool, manifest, frozenset(parameters.properties.keys() - own.keys()))
    title = tool_title(toolset.shown_name, target.name, f"Calling {target.name} application")
    display = display_of(manifest, title, tool=tool.display, parameters=parameters)
    return make_tool(
        target,
        function.description,
        read_arguments(parameters),
        display,
        tool.fallback_configuration,
        approval_rules(manifest, tool.approval, toolset.approval),
        risk,
        is_untrusted=as_stated(tool.is_untrusted, toolset.is_untrusted, otherwise=False),
    )


def reserved_names(tool: DeploymentTool) -> frozenset[str]:
    """Return the names of parameters that would overwrite a reserved field of the request."""
    if tool.sends_configuration:
        return frozenset()
    names = tool.open_ai_tool.function.parameters.properties.keys()
    return RESERVED & names - {tool.query_parameter}


def make_simple(
    tool: SimpleDeploymentTool, toolset: DeploymentToolSet, manifest: Manifest, info: DeploymentInfo
) -> PreparedTool:
    target, parameters, arguments = read_simple(tool, manifest, info)
    title = tool_title(toolset.shown_name, target.name, f"Calling {target.name} application")
    display = display_of(manifest, title, parameters=parameters)
    description = info.description or info.display_name
    approval = approval_rules(manifest, tool.approval, toolset.approval)
    return make_tool(
        target,
        description,
        arguments,
        display,
        Fallback(),
        approval,
        risk_of(info),
        is_untrusted=bool(toolset.is_untrusted),
    )


def make_tool(
    target: Target,
    description: str,
    arguments: Arguments,
    display: Display,
    fallback: Fallback,
    approval: ApprovalRules,
    risk: Risk = "changes",
    *,
    is_untrusted: bool,
) -> PreparedTool:
    options = ToolOptions(
        arguments,
        display,
        LONGEST_SECONDS,
        attachment=None,  # Filtered early, so that the stage can show the attachments.
        fallback=fallback,
        addresses=frozenset({FILES}),
        is_untrusted=is_untrusted,
        approval=approval,
        risk=risk,
    )
    return prepared_tool(target.name, description, partial(call_deployment, target), options)


SERVES = frozenset({"tool_sets.dial-deployment", "features.tool_access_filter"})
deployment = Capability("deployment", SERVES, prepare)
