"""Defines deployments that are called as tools, and builds the parameters of their requests."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from apps.capabilities.deployment.parameters import (
    OURS,
    QUERY,
    configurable,
    generate_parameters,
    generated_arguments,
)
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.arguments import Arguments
from apps.errors import DeploymentNotFound, InitializationIssue, QuickAppError
from apps.manifest.manifest import Manifest
from apps.manifest.names import sanitize
from apps.manifest.prompts import CustomSystemPrompt, DialSystemPrompt
from apps.manifest.toolsets.attachments import AttachmentFilter
from apps.manifest.toolsets.parameters import FunctionParameters
from apps.manifest.toolsets.tools import DeploymentTool, SimpleDeploymentTool
from apps.workspace.loading.shared_loads import rules_of
from apps.workspace.port import DeploymentInfo


@dataclass(frozen=True, slots=True)
class Target:
    """A deployment that the model calls as a tool."""

    name: str
    """The name of the tool."""
    deployment_id: str
    seconds: float
    """The idle timeout for a call, in seconds."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    static_tools: tuple[Mapping[str, Any], ...] = ()
    arguments: frozenset[str] = frozenset()
    """The names of the arguments that are added to the request."""
    system_prompt: CustomSystemPrompt | DialSystemPrompt | None = None
    is_resumable: bool = False
    """True if the model can continue an earlier conversation."""
    pools_history: bool = False
    """True if all calls to the tool continue one conversation with the deployment."""
    headers: tuple[str, ...] | None = None
    """The names of the caller's headers to forward. None forwards all headers."""
    attachment: AttachmentFilter = field(default_factory=AttachmentFilter)
    shows_stages: bool = True
    cites: bool = False
    """True if the deployment's annotations are added to the answer."""
    is_looked_up: bool = True
    """True if the deployment's features are looked up before a call."""
    query: str = QUERY
    """The name of the argument that contains the question."""
    sends_configuration: bool = False
    """True if all arguments are sent as configuration, declared or not."""


def declared_target(tool: DeploymentTool, manifest: Manifest, arguments: frozenset[str]) -> Target:
    configured, content = tool.deployment.parameters, tool.content_propagation
    name = sanitize(tool.open_ai_tool.function.name)
    return replace(
        target_of(name, tool.deployment.id, tool, manifest, arguments),
        parameters=configured.model_dump(exclude_none=True, exclude={"tools"}),
        static_tools=tuple(one.model_dump(exclude_none=True) for one in configured.tools or ()),
        system_prompt=tool.system_prompt,
        pools_history=content is not None and content.propagate_history,
        headers=content.propagate_headers if content is not None else None,
        attachment=tool.attachment,
        query=tool.query_parameter,
        sends_configuration=tool.sends_configuration,
    )


def read_simple(
    tool: SimpleDeploymentTool, manifest: Manifest, info: DeploymentInfo
) -> tuple[Target, FunctionParameters, Arguments]:
    mode, id = tool.conversation_mode, tool.deployment_id
    parameters = generate_parameters(info, is_resumable=mode is not None and mode.resumable)
    arguments = generated_arguments(parameters, info)
    names = frozenset(arguments.schema["properties"].keys() - OURS)
    return target_of(sanitize(id), id, tool, manifest, names), parameters, arguments


def target_of(
    name: str,
    deployment_id: str,
    tool: DeploymentTool | SimpleDeploymentTool,
    manifest: Manifest,
    arguments: frozenset[str],
) -> Target:
    mode, features = tool.conversation_mode, manifest.features
    return Target(
        name=name,
        deployment_id=deployment_id,
        seconds=rules_of(manifest).seconds,
        arguments=arguments,
        is_resumable=mode is not None and mode.resumable,
        attachment=AttachmentFilter(propagate_types_to_choice=()),
        shows_stages=features is None or features.stage_display.propagate_sub_stages,
        cites=bool(tool.propagate_annotations_to_choice),
    )


async def find_deployment(
    path: str, deployment_id: str, part: str, opening: Opening
) -> DeploymentInfo | InitializationIssue:
    """Return the features of a deployment, or an issue if it cannot be used.

    `part` describes the manifest's node in the issue, such as "tool". If the deployment does not
    exist, the issue's cause is `DeploymentNotFound`.
    """
    try:
        info = await opening.workspace.deployment(deployment_id)
    except DeploymentNotFound as error:
        issue = InitializationIssue(
            f"{path}: the deployment {deployment_id!r} does not exist, or you have no access, "
            f"so the application runs without this {part}."
        )
        issue.__cause__ = error
        return issue
    except QuickAppError as error:
        return InitializationIssue(f"{path}: {error}")
    if info.kind == "embedding":
        return InitializationIssue(
            f"{path}: the deployment {deployment_id!r} is an embedding model and cannot "
            f"answer, so the application runs without this {part}."
        )
    return info


def request_parameters(
    target: Target, info: DeploymentInfo, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the parameters of the request. Arguments override the manifest, and the manifest
    overrides the deployment's defaults.

    Properties of the deployment's configuration are put into `custom_fields`. Arguments that the
    manifest does not declare are omitted.
    """
    declared = configurable(info.configuration_schema)
    given = {name: value for name, value in arguments.items() if name in target.arguments}
    configured = given.keys() if target.sends_configuration else declared.keys()
    flat = {name: value for name, value in given.items() if name not in configured}
    configuration = {name: value for name, value in given.items() if name in configured}
    merged = {**info.defaults, **without_empty(target.parameters), **without_empty(flat)}
    fields = dict(merged.pop("custom_fields", None) or {})
    fields["configuration"] = without_empty(
        {**(fields.get("configuration") or {}), **configuration}
    )
    return {**merged, **without_empty({"custom_fields": without_empty(fields)})}


def without_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    # Null and {} select the deployment's default.
    return {name: value for name, value in values.items() if value is not None and value != {}}
