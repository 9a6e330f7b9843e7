"""A deployment that is called as a tool, as the manifest wants it called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from apps.manifest.attachments import AttachmentFilter
from apps.manifest.manifest import Manifest
from apps.manifest.names import sanitize
from apps.manifest.prompts import CustomSystemPrompt, DialSystemPrompt
from apps.manifest.tools import DeploymentTool, SimpleDeploymentTool


@dataclass(frozen=True, slots=True)
class Target:
    """`name` is the tool's. `parameters` and `static_tools` are written into every request.

    `arguments` are the names of those arguments that go into the request; `headers` are the names
    of the caller's headers that go along, None for all. `is_resumable` lets the model go on with a
    conversation, `pools_history` makes all calls one conversation. `seconds` may pass in silence.
    One that is not `is_looked_up` is asked as what it is known as without asking a service.
    The answer `cites` if what the deployment tells of its sources goes to the answer of the run.
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


def written_target(tool: DeploymentTool, manifest: Manifest, arguments: frozenset[str]) -> Target:
    configured = tool.deployment.parameters
    content, mode = tool.content_propagation, tool.conversation_mode
    return Target(
        name=sanitize(tool.open_ai_tool.function.name),
        deployment_id=tool.deployment.id,
        seconds=idle_seconds(manifest),
        parameters=configured.model_dump(exclude_none=True, exclude={"tools"}),
        static_tools=tuple(one.model_dump(exclude_none=True) for one in configured.tools or ()),
        arguments=arguments,
        system_prompt=tool.system_prompt,
        is_resumable=mode is not None and mode.resumable,
        pools_history=content is not None and content.propagate_history,
        headers=content.propagate_headers if content is not None else None,
        attachment=tool.attachment,
        shows_stages=shows_stages(manifest),
        cites=bool(tool.propagate_annotations_to_choice),
    )


def simple_target(
    tool: SimpleDeploymentTool, manifest: Manifest, arguments: frozenset[str]
) -> Target:
    mode = tool.conversation_mode
    return Target(
        name=sanitize(tool.deployment_id),
        deployment_id=tool.deployment_id,
        seconds=idle_seconds(manifest),
        arguments=arguments,
        is_resumable=mode is not None and mode.resumable,
        attachment=AttachmentFilter(propagate_types_to_choice=()),
        shows_stages=shows_stages(manifest),
        cites=bool(tool.propagate_annotations_to_choice),
    )


def idle_seconds(manifest: Manifest) -> float:
    configured = manifest.tool_defaults.timeout_seconds
    return configured or float(settings.DEFAULT_TOOL_TIMEOUT_SECONDS)


def shows_stages(manifest: Manifest) -> bool:
    return manifest.features is None or manifest.features.stage_display.propagate_sub_stages
