"""The tools of a toolset: written out, generated from a deployment, or predefined."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from apps.manifest.approvals import Approval
from apps.manifest.attachments import AttachmentFilter, ResponseAsAttachment
from apps.manifest.deployments import ToolDeployment
from apps.manifest.fallbacks import Fallback
from apps.manifest.nodes import IN_PREVIEW, Marks, Node
from apps.manifest.overrides import Override
from apps.manifest.parameters import FunctionTool
from apps.manifest.prompts import ToolSystemPrompt
from apps.manifest.rest_parameters import RestFunctionTool


class ToolStage(Node):
    """How a call is shown to people. `{city}` stands for the argument `city` in both texts."""

    name: str | None = None
    """Title of the stage, such as `Weather in {city}`. Null: made of the
    toolset's name."""
    body: str | None = None
    """What stands in the stage in place of the list of arguments, as Markdown."""
    show: bool = Field(
        default=True,
        json_schema_extra=Marks(deprecated=True, advice="Use `features.stage_display.level`."),
    )
    """False: show the call only if it fails."""
    defer_close: bool = False
    """Keep the stage open until the next answer of the model is complete."""


class ToolDisplay(Node):
    """How calls are shown to people."""

    stage: ToolStage | None = None
    """Title and text of the stage. Null: a title made of the toolset's name, and the arguments."""


class ConversationMode(Node):
    """Whether the calls of a tool are one conversation."""

    resumable: bool = False
    """Let the model go on with an earlier conversation: the tool gets an optional argument
    `session_id`, and its first answer tells the id. False: every call begins anew."""


class ContentPropagation(Node):
    """What goes along to the deployment."""

    propagate_history: bool = Field(
        default=False,
        json_schema_extra=Marks(deprecated=True, advice="Use `conversation_mode.resumable`."),
    )
    """Make one conversation of all calls of the tool."""
    propagate_headers: tuple[str, ...] | None = None
    """Names of the caller's `X-` headers that go along to an application, or to DIAL Core, such as
    `["X-Tenant"]`. Null: all; `[]`: none. A service that is a deployment here gets none anyway."""


class ConfiguredTool(Node):
    """What tools share whose function is written out."""

    attachment: AttachmentFilter = Field(default_factory=AttachmentFilter)
    """Which files of the results are kept, and which the answer shows."""
    fallback_configuration: Fallback = Field(default_factory=Fallback)
    """What happens when the tool fails. Left out: the model is told and goes on."""
    display: ToolDisplay | None = None
    """How calls are shown to people. Null: under a title made of the toolset's name, with their
    arguments."""
    approval: Approval | None = None
    """Which calls wait for a person, and which are never made. Null: as the toolset says."""
    enabled: bool = True
    """False: the tool is left out, as if it were not written."""
    is_repeatable: bool | None = None
    """Whether two calls have the effect of one. True: a call is made again if the process that made
    it ended before its result was known; false: the model is told that it may have been carried out.
    Null: as the toolset says, else as is known of the tool: a `post` is not repeated, other methods
    and models are."""
    is_untrusted: bool | None = None
    """Whether others decide what the results say, as with a search of the Web. After such a result,
    `approval.after_untrusted` may make calls wait. Null: as the toolset says, else false."""


def as_stated(*stated: bool | None, otherwise: bool) -> bool:
    """What the first of a tool and its toolset that says something says."""
    return next((one for one in stated if one is not None), otherwise)


class RestMethod(Node):
    """The request that a REST tool makes."""

    method_url: str
    """Address of the operation, such as `https://api.example.com/parcels/{id}`. Names in braces are
    filled by the parameters of the type `url`; an address that begins with `/` is on this server."""
    method_type: Literal["get", "post", "put", "delete"]
    """Method of the request; `post` and `put` have a JSON body."""


class RestTool(ConfiguredTool):
    """An operation of a REST service."""

    type: Literal["restapi-tool"] = "restapi-tool"
    """Says that the tool is an operation of a REST service. It may be left out."""
    open_ai_tool: RestFunctionTool
    """What the model is told of the tool, and where its arguments go."""
    rest_api_method_info: RestMethod
    """The request that is made."""
    response_as_attachment: ResponseAsAttachment | None = None
    """Whether answers become files. Null: as the toolset says; else it replaces all that the toolset
    says."""


class DeploymentTool(ConfiguredTool):
    """A deployment that is asked, with a function of your own."""

    type: Literal["deployment-tool"] = "deployment-tool"
    """Says that the tool is a deployment with a function of your own. It may be left out."""
    open_ai_tool: FunctionTool
    """What the model is told of the tool. The parameters `query` (or what `query_parameter` names)
    and `attachment_urls` are added where they are missing."""
    deployment: ToolDeployment
    """What is asked."""
    is_optional: bool = False
    """True: leave the tool out, without a word, where there is no such deployment that the caller
    may use. False: the answer says that it is missing."""
    query_parameter: Annotated[str, Field(min_length=1)] = "query"
    """Name of the parameter that holds the question, such as `prompt`."""
    takes_files: bool = True
    """False: the parameter `attachment_urls` is not added, because the deployment reads no files."""
    sends_configuration: bool = False
    """Send all other arguments as the configuration of the deployment. False: only those that it
    declares as such; the others become fields of the request."""
    system_prompt: ToolSystemPrompt | None = None
    """The prompt that the deployment gets in front of each question. Null: none."""
    content_propagation: ContentPropagation | None = None
    """What goes along to the deployment. Null: all headers of the caller that applications pass
    on."""
    conversation_mode: ConversationMode | None = None
    """Whether the model can go on with an earlier conversation. Null: every call begins anew."""
    propagate_annotations_to_choice: bool | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """Pass the sources that an application tells of on to the answer, and have the model copy its
    citations. Null or false: they are dropped."""
    supports_url_attachments: bool = False
    """Has no effect: whether a deployment takes addresses is known from its features. Leave it
    out."""


class InternalTool(ConfiguredTool):
    """A tool of the platform itself; the name of its function says which."""

    type: Literal["internal-tool"] = "internal-tool"
    """Says that the tool is one of the platform's own. It may be left out."""
    open_ai_tool: FunctionTool
    """What the model is told of the tool. Its name has to be that of a tool that there is."""


class SimpleDeploymentTool(Node):
    """A deployment that is asked; its function is made from what is known of it."""

    type: Literal["dial-deployment-simple"] = "dial-deployment-simple"
    """Says that the function is made from what is known of the deployment. It may be left out."""
    deployment_id: str = Field(json_schema_extra=Marks(resource=True))
    """Id of the model or application that is asked. The tool is named after it."""
    approval: Approval | None = None
    """Which calls wait for a person, and which are never made. Null: as the toolset says."""
    enabled: bool = True
    """False: the tool is left out, as if it were not written."""
    conversation_mode: ConversationMode | None = None
    """Whether the model can go on with an earlier conversation. Null: every call begins anew."""
    propagate_annotations_to_choice: bool | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """Pass the sources that an application tells of on to the answer, and have the model copy its
    citations. Null or false: they are dropped."""


class PredefinedTool(Node):
    """A tool of the predefined content."""

    type: Literal["predefined-tool"] = "predefined-tool"
    """Says that the tool is predefined. It may be left out."""
    template_name: str
    """Name of the predefined tool, such as `web_search`. One that there is not is left out, and the
    answer says so."""
    enabled: bool = True
    """False: the tool is left out, as if it were not written."""
    override: Override | None = None
    """Changes of the template, as a merge patch: objects are merged, null deletes a key, anything
    else replaces what is there. It cannot change the tool's own `type`. Null: none."""


def kind_of_tool(full: str) -> Callable[[Any], str | None]:
    """A function from a tool to its kind: its `type`, else by its keys, else `full`."""

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
