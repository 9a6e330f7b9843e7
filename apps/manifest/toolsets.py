"""The kinds of toolset that an application can be given."""

import re
from typing import Annotated, Any, Literal, Self
from urllib.parse import unquote

from pydantic import ConfigDict, Field, WithJsonSchema, field_serializer, model_validator
from pydantic_core import PydanticCustomError

from apps.manifest.attachments import AttachmentFilter, ResponseAsAttachment
from apps.manifest.authorizations import McpAuthorization, RestAuthorization
from apps.manifest.fallbacks import Fallback
from apps.manifest.names import Localized, localized
from apps.manifest.nodes import Marks, Node
from apps.manifest.overrides import Override
from apps.manifest.secrets import Credential, dumped, reads_as_credential
from apps.manifest.tools import (
    AnyDeploymentTool,
    AnyInternalTool,
    AnyRestTool,
    ConversationMode,
    RestMethod,
)


class Described(Node):
    """What every toolset may have, except a predefined one."""

    description: Localized | None = None
    """What the toolset is for; one text, or one for each language as for `name`. The model reads it
    where it chooses among toolsets: when it searches for tools, and for sub-agents."""
    enabled: bool = True
    """False: the toolset is left out, as if it were not written."""
    deferred: bool | None = Field(
        default=True,
        json_schema_extra=Marks(preview=True),
    )
    """False: always list these tools, also when `orchestrator.tool_discovery` withholds others. Tools
    of `dial-deployment` and `dial-app` are always listed."""


class Named(Described):
    """What every toolset has that is not one of DIAL's."""

    name: Localized
    """Stands in front of the names of its tools (`desk` makes `desk_find_ticket` of `find_ticket`;
    tools of deployments and internal tools keep their own) and in the titles of their stages. One
    text, or one for each language: `{"en": "Desk", "de": "Schalter"}`, of which the model sees the
    English one."""


Header = Annotated[Credential, WithJsonSchema({"type": "string", "x-credential": True})]
"""The value of a header, which may be a credential."""


class RestToolSet(Named):
    """Operations of a REST service."""

    type: Literal["rest-api"] = "rest-api"
    """Says that the tools are operations of a REST service."""
    base_url: str | None = None
    """Stands in front of every `method_url` without a host, such as `https://api.example.com/v1`.
    Null: each tool names its host."""
    headers: dict[str, Header] = Field(default_factory=dict, json_schema_extra=Marks(headers=True))
    """Sent with every call: names, each with a text or a secret. A header of a tool wins over the one
    that is shared, and `authorization` over both."""
    authorization: RestAuthorization | None = None
    """How the service is told who is calling; it counts for all tools of the toolset. Null: it is not
    told."""
    response_as_attachment: ResponseAsAttachment | None = None
    """Whether answers become files, for those tools that do not say so themselves. Null: they do
    not, and the log has a warning."""
    forward_headers: tuple[str, ...] | None = None
    """Names of the caller's `X-` headers that the service is sent, such as `["X-Tenant"]`. They never
    replace a header that the toolset sets. Null: none."""
    tools: tuple[AnyRestTool, ...]
    """The operations: written out, or predefined."""

    def address_of(self, method: RestMethod) -> str:
        """Where a tool is: an address without a host stands below the one that is shared."""
        url = method.method_url
        if not self.base_url or has_host(url):
            return url
        return f"{self.base_url.rstrip('/')}/{url.lstrip('/')}"

    @field_serializer("headers")
    def _hides_credentials(self, headers: dict[str, Credential]) -> dict[str, Any]:
        return {
            name: dumped(value) if is_credential_header(name, value) else value.text
            for name, value in headers.items()
        }


_scheme = re.compile(r"\s*[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def has_host(url: str) -> bool:
    return bool(_scheme.match(url))


def is_credential_header(name: str, value: Credential) -> bool:
    return reads_as_credential(name) or bool(value.secret)


class DeploymentToolSet(Named):
    """Models and applications that are asked."""

    type: Literal["dial-deployment"] = "dial-deployment"
    """Says that the tools are deployments."""
    tools: tuple[AnyDeploymentTool, ...]
    """The deployments: with a function of your own, with a generated one, or predefined."""


class InternalToolSet(Named):
    """Tools of the platform itself."""

    type: Literal["internal"] = "internal"
    """Says that the tools are the platform's own."""
    tools: tuple[AnyInternalTool, ...]
    """The tools: written out, or predefined."""


class McpResource(Node):
    """A resource that an MCP server has."""

    uri: str
    """Its URI, as the server tells it. The server need not list it."""
    eager: bool = False
    """Put its text into the conversation before the first answer; false: it is read when the model
    asks for it."""


class McpResources(Node):
    """Resources of an MCP server."""

    enabled: bool = False
    """List the server's resources in the prompt, and give the model the tool `read_mcp_resource`."""
    items: tuple[McpResource, ...] | None = None
    """The resources that may be read. Null: all that the server lists."""


class McpServer(Node):
    """Where a server is: at an address, or registered with the installation under a name."""

    url: str = Field(default_factory=str)
    """Address of the server, such as `https://mcp.example.com/mcp`; one that begins with `/` is on
    this server. It is needed for `streamable_http` and `sse`, and not read for `stdio`."""
    protocol: Literal["sse", "streamable_http", "stdio"]
    """How the server is reached: over HTTP, as `streamable_http` or the older `sse`; or as a program
    on this machine, `stdio`."""
    server: str = Field(default_factory=str)
    """For `stdio`, and needed then: the name of a program that an administrator registered under
    *MCP servers*."""
    authorization: McpAuthorization | None = None
    """How the server is told who is calling. Null: it is not told."""

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

    allowed_tools: tuple[str, ...] | None = None
    """Names of the tools that there are, as the server tells them: `["find_ticket"]`. Null or `[]`:
    all."""
    hidden_from_model: tuple[str, ...] | None = Field(
        default=None,
        json_schema_extra=Marks(preview=True),
    )
    """Names of tools, as the server tells them, that hooks may call and the model never sees. Where
    `allowed_tools` names any, it has to name these too. Null: none."""
    attachment: AttachmentFilter = Field(default_factory=AttachmentFilter)
    """Which files of the results are kept, and which the answer shows; for all tools."""
    fallback_configuration: Fallback = Field(default_factory=Fallback)
    """What happens when one of the tools fails. Left out: the model is told and goes on."""

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
    """What toolsets share whose server speaks MCP."""

    resources: McpResources | None = None
    """Which resources of the server the model may read. Null: none."""
    server_instructions: bool = False
    """Put what the server says about its own use into the prompt. It is another's text, so it is off
    unless you trust the server."""


class McpToolSet(Named, McpTools):
    """The tools of an MCP server."""

    type: Literal["mcp"] = "mcp"
    """Says that the tools are those of an MCP server."""
    mcp_server_info: McpServer
    """Where the server is, and how it is told who is calling."""
    forward_headers: tuple[str, ...] | None = None
    """Names of the caller's `X-` headers that the server is sent, such as `["X-Tenant"]`. They never
    replace a header of the authorization. Null: none."""


UNNAMED = "untitled-mcp-toolset"


class DialMcpToolSet(Described, McpTools):
    """A toolset that DIAL Core keeps."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["deployment_id"]}, {"required": ["dial_id"]}]}
    )

    type: Literal["dial-mcp"] = "dial-mcp"
    """Says that DIAL Core keeps the toolset."""
    name: str = UNNAMED
    """Stands in front of the names of its tools where Core tells no name of the toolset. Hooks and
    sub-agents call the toolset by it."""
    deployment_id: str = Field(default_factory=str, json_schema_extra=Marks(resource=True))
    """Id of the toolset, such as `toolsets/public/calendar`. Core knows where its server is and how
    people sign in to it."""
    dial_id: str = Field(
        default_factory=str,
        json_schema_extra=Marks(deprecated=True, resource=True, advice="Write `deployment_id`."),
    )
    """An older name of `deployment_id`, which wins where both are written."""
    transport: Literal["HTTP", "SSE"] = Field(
        default="HTTP",
        json_schema_extra=Marks(advice="Leave it out; DIAL knows how the toolset is reached."),
    )
    """Has no effect."""

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
    """An application or another deployment, with the tools that it has or as one tool that asks
    it."""

    type: Literal["dial-app"] = "dial-app"
    """Says that this is an application or another deployment."""
    deployment_id: str = Field(json_schema_extra=Marks(resource=True))
    """Id of the application or deployment. A tool that asks it is named after this."""
    transport: Literal["auto", "mcp", "chat-completion"] = "auto"
    """`auto`: the tools that it has over MCP if it says that it speaks that, else one tool that asks
    it. `mcp`: its tools; where it does not speak MCP, the toolset is left out and the answer says
    so. `chat-completion`: one tool that asks it."""
    conversation_mode: ConversationMode | None = None
    """For the tool that asks it: whether the model can go on with an earlier conversation. Null:
    every call begins anew."""


class PredefinedToolSet(Node):
    """A toolset of the predefined content."""

    type: Literal["predefined"] = "predefined"
    """Says that the toolset is predefined."""
    template_name: str
    """Name of the predefined toolset, such as `py_interpreter`. One that there is not is left out, and
    the answer says so."""
    override: Override | None = None
    """Changes of the template, as a merge patch: objects are merged, null deletes a key, anything
    else replaces what is there. It cannot change the toolset's own `type`. Null: none."""


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


def label_of(toolset: ToolSet) -> str:
    """How a report calls it, "" if it has no name at all."""
    if isinstance(toolset, PredefinedToolSet):
        return toolset.template_name
    if isinstance(toolset, DialMcpToolSet) and toolset.name == UNNAMED:
        return unquote(toolset.id.rstrip("/").rpartition("/")[2])
    return localized(toolset.name)
