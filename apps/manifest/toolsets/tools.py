"""Defines the tools of a toolset: written inline, generated from a deployment, or predefined."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, ValidationInfo
from pydantic_core import PydanticCustomError

from apps.manifest.deployments import ToolDeployment
from apps.manifest.nodes import IN_PREVIEW, Marks, Node, is_checked
from apps.manifest.prompts import ToolSystemPrompt
from apps.manifest.toolsets.approvals import Approval
from apps.manifest.toolsets.attachments import AttachmentFilter, ResponseAsAttachment
from apps.manifest.toolsets.fallback_strategies import Fallback
from apps.manifest.toolsets.parameters import FunctionTool
from apps.manifest.toolsets.rest_parameters import RestFunctionTool


def apply_patch(target: Any, patch: Any) -> Any:
    """Apply a merge patch to the target. Null deletes a key, objects are merged, and other values
    replace the old value.
    """
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = apply_patch(merged.get(key), value)
    return merged


CHANGES_TYPE = (
    "contains `type`, which cannot be patched because it identifies the template; "
    "remove it, or write the tool out"
)


def changes_type(patch: Mapping[str, Any]) -> bool:
    # Only the item's own type cannot be patched. Parameters and strategies have types too.
    return "type" in patch


def _changes_no_type(patch: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    # A disabled reference is not checked. A run omits an invalid one, and reports an issue.
    if is_checked(info) and info.data.get("enabled", True) and changes_type(patch):
        raise PydanticCustomError("override_type", CHANGES_TYPE)
    return patch


Override = Annotated[dict[str, Any], AfterValidator(_changes_no_type)]


class ToolStage(Node):
    """Controls how a call is shown to users. In `name` and `body`, a placeholder such as `{city}`
    is replaced with the argument of that name.
    """

    name: str | None = None
    """The title of the stage, such as `Weather in {city}`. Null: the toolset's name."""
    body: str | None = None
    """The Markdown text that the stage shows instead of the list of arguments."""
    show: bool = Field(
        default=True,
        json_schema_extra=Marks(deprecated=True, advice="Use `features.stage_display.level`."),
    )
    """False: show the call only if it fails."""
    defer_close: bool = False
    """Keep the stage open until the model's next answer is complete."""


class ToolDisplay(Node):
    """Controls how calls are shown to users."""

    stage: ToolStage | None = None
    """The stage's title and text. Null: the toolset's name as the title, and the arguments."""


class ConversationMode(Node):
    """Settings for combining a tool's calls into one conversation."""

    resumable: bool = False
    """Allow the model to continue an earlier conversation. The tool gets an optional `session_id`
    argument, and its first answer contains the ID. False: every call starts a new conversation.
    """


class ContentPropagation(Node):
    """Selects the caller's headers that QuickApps forwards to the deployment."""

    propagate_history: bool = Field(
        default=False,
        json_schema_extra=Marks(deprecated=True, advice="Use `conversation_mode.resumable`."),
    )
    """Combine all calls to the tool into one conversation."""
    propagate_headers: tuple[str, ...] | None = None
    """Names of the caller's `X-` headers to forward to an application or to DIAL Core, such as
    `["X-Tenant"]`. Null: all headers. `[]`: none. Services that are deployments of this
    installation receive no headers.
    """


class ConfiguredTool(Node):
    """Fields of tools that define their function inline."""

    attachment: AttachmentFilter = Field(default_factory=AttachmentFilter)
    """Selects which files in the tool's results are stored, and which of them the answer shows."""
    fallback_configuration: Fallback = Field(default_factory=Fallback)
    """Controls what happens when a tool call fails. Omitted: the model gets the error and
    continues.
    """
    display: ToolDisplay | None = None
    """Controls how calls are shown to users. Null: the toolset's name as the title, and the
    arguments.
    """
    approval: Approval | None = None
    """The calls that need approval or are denied. Null: the toolset's rules."""
    enabled: bool = True
    """False: the tool is ignored."""
    is_repeatable: bool | None = None
    """True if calling the tool twice has the same effect as calling it once. If true, QuickApps
    repeats a call whose process ended before the result was known. If false, QuickApps informs the
    model that the call may have been executed. Null: the toolset's value. If the toolset has no
    value, all calls except `post` are repeated.
    """
    is_untrusted: bool | None = None
    """True if third parties control the results, as in a web search. After such a result,
    `approval.after_untrusted` can require approval for calls. Null: the toolset's value, or else
    false.
    """


def as_stated(*stated: bool | None, otherwise: bool) -> bool:
    """Return the first value that is not None, or `otherwise`. The values come from a tool and its
    toolset.
    """
    return next((one for one in stated if one is not None), otherwise)


class RestMethod(Node):
    """The request that a REST tool makes."""

    method_url: str
    """The URL of the operation, such as `https://api.example.com/parcels/{id}`. Parameters of type
    `url` replace the names in braces. A URL that begins with `/` refers to this server.
    """
    method_type: Literal["get", "post", "put", "delete"]
    """The method of the request. `post` and `put` send a JSON body."""


class RestTool(ConfiguredTool):
    """An operation of a REST service."""

    type: Literal["restapi-tool"] = "restapi-tool"
    """The tool is an operation of a REST service. Optional."""
    open_ai_tool: RestFunctionTool
    """The tool's description for the model, and the part of the request that contains each
    argument.
    """
    rest_api_method_info: RestMethod
    """The request to make."""
    response_as_attachment: ResponseAsAttachment | None = None
    """The responses to store as files. This setting overrides the toolset's setting; the two are not
    merged. Null: the toolset's setting.
    """


class DeploymentTool(ConfiguredTool):
    """A deployment that the model can call as a tool, with a function that you define."""

    type: Literal["deployment-tool"] = "deployment-tool"
    """The tool is a deployment with a function that you define. Optional."""
    open_ai_tool: FunctionTool
    """The tool's description for the model. QuickApps adds the parameters `query` (or the name in
    `query_parameter`) and `attachment_urls` if they are missing.
    """
    deployment: ToolDeployment
    """The deployment to call."""
    is_optional: bool = False
    """True: if the caller cannot use the deployment, the tool is omitted without an error. False:
    the answer reports the missing tool.
    """
    query_parameter: Annotated[str, Field(min_length=1)] = "query"
    """The name of the parameter that contains the question, such as `prompt`."""
    takes_files: bool = True
    """False: the parameter `attachment_urls` is not added. Use this value if the deployment does
    not accept files.
    """
    sends_configuration: bool = False
    """Send all other arguments as the deployment's configuration. False: only arguments that the
    deployment declares as configuration are sent in this way, and other arguments become fields of
    the request.
    """
    system_prompt: ToolSystemPrompt | None = None
    """The prompt that the deployment receives before each question. Null: none."""
    content_propagation: ContentPropagation | None = None
    """Controls which of the caller's `X-` headers QuickApps forwards to the deployment. Null: all
    of them.
    """
    conversation_mode: ConversationMode | None = None
    """Allow the model to continue an earlier conversation. Null: every call starts a new
    conversation.
    """
    propagate_annotations_to_choice: bool | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """If an application reports sources, add them to the answer, and instruct the model to copy the
    citations. Null or false: sources and citations are dropped.
    """
    supports_url_attachments: bool = False
    """Has no effect, because the deployment's features determine this. Do not set this field."""


class InternalTool(ConfiguredTool):
    """A tool that QuickApps itself provides. The name of its function selects the tool."""

    type: Literal["internal-tool"] = "internal-tool"
    """QuickApps itself provides the tool. Optional."""
    open_ai_tool: FunctionTool
    """The tool's description for the model. The name must be the name of an existing internal tool.
    """


class SimpleDeploymentTool(Node):
    """A deployment that the model can call as a tool. Its function is generated from the
    deployment's description.
    """

    type: Literal["dial-deployment-simple"] = "dial-deployment-simple"
    """The function is generated from the deployment's description. Optional."""
    deployment_id: str = Field(json_schema_extra=Marks(resource=True))
    """The ID of the model or application to call. This ID is also the name of the tool."""
    approval: Approval | None = None
    """The calls that need approval or are denied. Null: the toolset's rules."""
    enabled: bool = True
    """False: the tool is ignored."""
    conversation_mode: ConversationMode | None = None
    """Allow the model to continue an earlier conversation. Null: every call starts a new
    conversation.
    """
    propagate_annotations_to_choice: bool | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """If an application reports sources, add them to the answer, and instruct the model to copy the
    citations. Null or false: sources and citations are dropped.
    """


class PredefinedTool(Node):
    """A tool from the predefined content."""

    type: Literal["predefined-tool"] = "predefined-tool"
    """The type of the tool, which is always `predefined-tool`. Optional."""
    template_name: str
    """The name of the predefined tool, such as `web_search`. An unknown tool is omitted, and the
    answer reports it.
    """
    enabled: bool = True
    """False: the tool is ignored."""
    override: Override | None = None
    """Changes to the template, as a merge patch. Objects are merged, null deletes a key, and other
    values replace the old values. The patch cannot change the tool's own `type`. Null: none.
    """


def kind_of_tool(full: str) -> Callable[[Any], str | None]:
    """Return a discriminator for tools: it returns a tool's `type`, else the type that its keys
    imply, else `full`.
    """

    def kind(tool: Any) -> str | None:
        if not isinstance(tool, Mapping):
            return getattr(tool, "type", None)
        if "type" in tool:
            return tool["type"] if isinstance(tool["type"], str) else None
        if "template_name" in tool:
            return "predefined-tool"
        # Only a full tool of a `dial-deployment` toolset has siblings that are generated from an
        # ID.
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
