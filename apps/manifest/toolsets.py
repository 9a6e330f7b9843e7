"""The kinds of toolset that an application can be given."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from apps.manifest.attachments import AttachmentFilter, ResponseAsAttachment
from apps.manifest.authorizations import McpAuthorization, RestAuthorization
from apps.manifest.fallbacks import Fallback
from apps.manifest.nodes import Marks, Node
from apps.manifest.overrides import Override
from apps.manifest.texts import Localized
from apps.manifest.tools import AnyDeploymentTool, AnyInternalTool, AnyRestTool, ConversationMode


class Described(Node):
    description: Localized | None = None
    enabled: bool = True
    deferred: bool | None = Field(
        default=True,
        description="False: list the tools even when tools are searched for.",
        json_schema_extra=Marks(preview=True),
    )


class Named(Described):
    name: Localized = Field(description="Goes in front of the names of its tools.")


class RestToolSet(Named):
    type: Literal["rest-api"] = "rest-api"
    authorization: RestAuthorization | None = None
    response_as_attachment: ResponseAsAttachment | None = None
    forward_headers: tuple[str, ...] | None = Field(
        default=None,
        description="Names of the caller's `X-` headers that the service is sent; null sends none.",
    )
    tools: tuple[AnyRestTool, ...]


class DeploymentToolSet(Named):
    type: Literal["dial-deployment"] = "dial-deployment"
    tools: tuple[AnyDeploymentTool, ...]


class InternalToolSet(Named):
    type: Literal["internal"] = "internal"
    tools: tuple[AnyInternalTool, ...]


class McpResource(Node):
    uri: str
    eager: bool = False


class McpResources(Node):
    enabled: bool = False
    items: tuple[McpResource, ...] | None = Field(
        default=None, description="Null: all that the server has, read when asked for."
    )


class McpServer(Node):
    """Where a server is: at an address, or registered with the installation under a name."""

    url: str = Field(default_factory=str, description="Of a server that is reached over HTTP.")
    protocol: Literal["sse", "streamable_http", "stdio"]
    server: str = Field(
        default_factory=str,
        description="With `stdio`: the name of a server that an administrator registered.",
    )
    authorization: McpAuthorization | None = None

    @model_validator(mode="after")
    def _says_where(self) -> Self:
        if self.protocol == "stdio":
            if not self.server:
                raise PydanticCustomError(
                    "server_missing",
                    "names no server; write the name of a registered one as `server`",
                )
        elif "url" not in self.model_fields_set:
            raise PydanticCustomError(
                "url_missing", "has no address; write the one of the server as `url`"
            )
        return self


class RemoteTools(Node):
    """What toolsets share whose tools are told by a server."""

    allowed_tools: tuple[str, ...] | None = Field(
        default=None, description="Names as the server tells them; null allows all."
    )
    hidden_from_model: tuple[str, ...] | None = Field(
        default=None,
        description="Names of tools that hooks may call and the model never sees.",
        json_schema_extra=Marks(preview=True),
    )
    attachment: AttachmentFilter = Field(default_factory=AttachmentFilter)
    fallback_configuration: Fallback = Field(default_factory=Fallback)

    @model_validator(mode="after")
    def _hides_what_it_allows(self) -> Self:
        if not self.allowed_tools or not self.hidden_from_model:
            return self
        unknown = [name for name in self.hidden_from_model if name not in self.allowed_tools]
        if unknown:
            raise PydanticCustomError(
                "hidden_not_allowed",
                "`hidden_from_model` names {names}, not in `allowed_tools`; add it there too",
                {"names": ", ".join(map(repr, unknown))},
            )
        return self


class McpTools(RemoteTools):
    resources: McpResources | None = None
    server_instructions: bool = Field(
        default=False,
        description="Put what the server says about its own use into the system prompt.",
    )


class McpToolSet(Named, McpTools):
    type: Literal["mcp"] = "mcp"
    mcp_server_info: McpServer
    forward_headers: tuple[str, ...] | None = Field(
        default=None,
        description="Names of the caller's `X-` headers that the server is sent; null sends none.",
    )


class DialMcpToolSet(Described, McpTools):
    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["deployment_id"]}, {"required": ["dial_id"]}]}
    )

    type: Literal["dial-mcp"] = "dial-mcp"
    name: str = "untitled-mcp-toolset"
    deployment_id: str = Field(default_factory=str, json_schema_extra=Marks(resource=True))
    dial_id: str = Field(
        default_factory=str,
        json_schema_extra=Marks(deprecated=True, resource=True, advice="Write `deployment_id`."),
    )
    transport: Literal["HTTP", "SSE"] = Field(
        default="HTTP",
        json_schema_extra=Marks(advice="Leave it out; DIAL knows how the toolset is reached."),
    )

    @property
    def id(self) -> str:
        """The toolset's id, however it was written; `deployment_id` wins."""
        return self.deployment_id or self.dial_id

    @model_validator(mode="after")
    def _names_a_toolset(self) -> Self:
        if not self.id:
            raise PydanticCustomError(
                "deployment_missing", "names no toolset; write its id as `deployment_id`"
            )
        return self


class DialAppToolSet(Named, RemoteTools):
    type: Literal["dial-app"] = "dial-app"
    deployment_id: str = Field(json_schema_extra=Marks(resource=True))
    transport: Literal["auto", "mcp", "chat-completion"] = "auto"
    conversation_mode: ConversationMode | None = None


class PredefinedToolSet(Node):
    type: Literal["predefined"] = "predefined"
    template_name: str
    override: Override | None = None


ToolSet = Annotated[
    RestToolSet
    | DeploymentToolSet
    | InternalToolSet
    | McpToolSet
    | DialAppToolSet
    | DialMcpToolSet
    | PredefinedToolSet,
    Field(discriminator="type"),
]
