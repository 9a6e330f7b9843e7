"""A deployment that is called as a tool, and the fields of its requests beside the messages."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from apps.capabilities.deployment.parameters import (
    OURS,
    configurable,
    generated,
    generated_arguments,
)
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.arguments import Arguments
from apps.errors import DeploymentNotFound, InitializationIssue, QuickAppError
from apps.manifest.attachments import AttachmentFilter
from apps.manifest.manifest import Manifest
from apps.manifest.names import sanitize
from apps.manifest.parameters import FunctionParameters
from apps.manifest.prompts import CustomSystemPrompt, DialSystemPrompt
from apps.manifest.tools import DeploymentTool, SimpleDeploymentTool
from apps.workspace.loading.shared_loads import rules_of
from apps.workspace.port import DeploymentInfo


@dataclass(frozen=True, slots=True)
class Target:
    """A deployment under the name of its tool.

    `seconds`: how long it may be silent. `parameters`, `static_tools`: written into every request.
    `arguments`: names of arguments that go into the request. `headers`: names of the caller's
    headers that are passed on, None for all. `is_resumable`: the model may continue a conversation;
    `pools_history`: all calls are one conversation. `cites`: annotations of the deployment go to
    the answer. `is_looked_up`: ask the workspace for the deployment's features before a call.
    """

    name: str
    deployment_id: str
    seconds: float
    parameters: Mapping[str, Any] = field(default_factory=dict)
    static_tools: tuple[Mapping[str, Any], ...] = ()
    arguments: frozenset[str] = frozenset()
    system_prompt: CustomSystemPrompt | DialSystemPrompt | None = None
    is_resumable: bool = False
    pools_history: bool = False
    headers: tuple[str, ...] | None = None
    attachment: AttachmentFilter = field(default_factory=AttachmentFilter)
    shows_stages: bool = True
    cites: bool = False
    is_looked_up: bool = True


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
    )


def read_simple(
    tool: SimpleDeploymentTool, manifest: Manifest, info: DeploymentInfo
) -> tuple[Target, FunctionParameters, Arguments]:
    mode, id = tool.conversation_mode, tool.deployment_id
    parameters = generated(info, is_resumable=mode is not None and mode.resumable)
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


async def look_up(
    path: str, deployment_id: str, part: str, opening: Opening
) -> DeploymentInfo | InitializationIssue:
    """The features of a deployment, or why its `part` of the manifest cannot be used."""
    try:
        info = await opening.workspace.deployment(deployment_id)
    except DeploymentNotFound:
        return InitializationIssue(
            f"{path}: there is no deployment {deployment_id!r} that you may use, so the "
            f"application runs without this {part}."
        )
    except QuickAppError as error:
        return InitializationIssue(f"{path}: {error}")
    if info.kind == "embedding":
        return InitializationIssue(
            f"{path}: the deployment {deployment_id!r} makes vectors of texts and cannot answer, so "
            f"the application runs without this {part}."
        )
    return info


def parameters_of(
    target: Target, info: DeploymentInfo, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """The deployment's defaults, overlaid by the manifest's, overlaid by the arguments.

    Properties of the deployment's configuration go into `custom_fields`; arguments that are not
    declared are left out.
    """
    declared = configurable(info.configuration_schema)
    given = {name: value for name, value in arguments.items() if name in target.arguments}
    flat = {name: value for name, value in given.items() if name not in declared}
    configuration = {name: value for name, value in given.items() if name in declared}
    merged = {**info.defaults, **without_empty(target.parameters), **without_empty(flat)}
    fields = dict(merged.pop("custom_fields", None) or {})
    fields["configuration"] = without_empty(
        {**(fields.get("configuration") or {}), **configuration}
    )
    return {**merged, **without_empty({"custom_fields": without_empty(fields)})}


def without_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    # null and {} leave the choice to the deployment
    return {name: value for name, value in values.items() if value is not None and value != {}}
