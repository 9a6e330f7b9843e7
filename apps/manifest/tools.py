"""The tools of a toolset: written out, generated from a deployment, or predefined."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from apps.manifest.attachments import AttachmentFilter, ResponseAsAttachment
from apps.manifest.deployments import ToolDeployment
from apps.manifest.fallbacks import Fallback
from apps.manifest.nodes import Marks, Node
from apps.manifest.overrides import Override
from apps.manifest.parameters import FunctionTool, RestFunctionTool
from apps.manifest.prompts import ToolSystemPrompt


class ToolStage(Node):
    """Both texts may contain {argument} placeholders."""

    name: str | None = None
    body: str | None = None
    show: bool = Field(
        default=True,
        json_schema_extra=Marks(deprecated=True, advice="Use `features.stage_display.level`."),
    )
    defer_close: bool = False


class ToolDisplay(Node):
    stage: ToolStage | None = None


class ConversationMode(Node):
    resumable: bool = Field(default=False, description="The model may go on with a conversation.")


class ContentPropagation(Node):
    propagate_history: bool = Field(
        default=False,
        json_schema_extra=Marks(deprecated=True, advice="Use `conversation_mode.resumable`."),
    )
    propagate_headers: tuple[str, ...] | None = None


class ConfiguredTool(Node):
    """What tools share whose function is written out."""

    attachment: AttachmentFilter = Field(default_factory=AttachmentFilter)
    fallback_configuration: Fallback = Field(default_factory=Fallback)
    display: ToolDisplay | None = None
    enabled: bool = True


class RestMethod(Node):
    method_url: str = Field(description="May contain {key} for parameters of type url.")
    method_type: Literal["get", "post", "put", "delete"]


class RestTool(ConfiguredTool):
    type: Literal["restapi-tool"] = "restapi-tool"
    open_ai_tool: RestFunctionTool
    rest_api_method_info: RestMethod
    response_as_attachment: ResponseAsAttachment | None = None


class DeploymentTool(ConfiguredTool):
    type: Literal["deployment-tool"] = "deployment-tool"
    open_ai_tool: FunctionTool
    deployment: ToolDeployment
    system_prompt: ToolSystemPrompt | None = None
    content_propagation: ContentPropagation | None = None
    conversation_mode: ConversationMode | None = None
    propagate_annotations_to_choice: bool | None = Field(
        default=None, json_schema_extra=Marks(preview=True)
    )
    supports_url_attachments: bool = Field(
        default=False, description="Known from the deployment; not meant to be written."
    )


class InternalTool(ConfiguredTool):
    """The function's name selects the implementation."""

    type: Literal["internal-tool"] = "internal-tool"
    open_ai_tool: FunctionTool


class SimpleDeploymentTool(Node):
    """Its function is generated from what DIAL knows of the deployment."""

    type: Literal["dial-deployment-simple"] = "dial-deployment-simple"
    deployment_id: str = Field(json_schema_extra=Marks(resource=True))
    enabled: bool = True
    conversation_mode: ConversationMode | None = None
    propagate_annotations_to_choice: bool | None = Field(
        default=None, json_schema_extra=Marks(preview=True)
    )


class PredefinedTool(Node):
    type: Literal["predefined-tool"] = "predefined-tool"
    template_name: str
    enabled: bool = True
    override: Override | None = None


def kind_of_tool(full: str) -> Callable[[Any], str | None]:
    """What a tool means to be: its `type`, else what its keys say, else the `full` kind."""

    def kind(tool: Any) -> str | None:
        if not isinstance(tool, Mapping):
            return getattr(tool, "type", None)
        if "type" in tool:
            return tool["type"] if isinstance(tool["type"], str) else None
        if "template_name" in tool:
            return "predefined-tool"
        # Only a full tool of a deployment set has siblings that are generated from an id.
        if full == "deployment-tool" and "deployment_id" in tool and "open_ai_tool" not in tool:
            return "dial-deployment-simple"
        return full

    return kind


AnyRestTool = Annotated[
    Annotated[RestTool, Tag("restapi-tool")] | Annotated[PredefinedTool, Tag("predefined-tool")],
    Discriminator(kind_of_tool("restapi-tool")),
]

AnyDeploymentTool = Annotated[
    Annotated[DeploymentTool, Tag("deployment-tool")]
    | Annotated[SimpleDeploymentTool, Tag("dial-deployment-simple")]
    | Annotated[PredefinedTool, Tag("predefined-tool")],
    Discriminator(kind_of_tool("deployment-tool")),
]

AnyInternalTool = Annotated[
    Annotated[InternalTool, Tag("internal-tool")]
    | Annotated[PredefinedTool, Tag("predefined-tool")],
    Discriminator(kind_of_tool("internal-tool")),
]

AnyTool = RestTool | DeploymentTool | SimpleDeploymentTool | InternalTool | PredefinedTool
