"""Toolsets of MCP servers, and of those that DIAL Core knows."""

from typing import Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from apps.manifest.authorizations import McpAuthorization
from apps.manifest.nodes import Marks, Node
from apps.manifest.shared_fields import Described, Named, RemoteTools


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


class McpTools(RemoteTools):
    """What toolsets share whose server speaks MCP."""

    resources: McpResources | None = None
    """Which resources of the server the model may read. Null: none."""
    server_instructions: bool = False
    """Put what the server says about its own use into the prompt. It is another's text, so it is off
    unless you trust the server."""
    failure_texts: tuple[str, ...] | None = None
    """How results begin that are failures although the server does not mark them as such, as with
    `["Error:", "No results were found"]`. Large and small letters are the same. Null: only those are
    failures that the server marks."""
    result_format: Literal["blocks", "execution"] = "blocks"
    """How results are read. `blocks`: as the protocol has them. `execution`: as reports of a Python
    interpreter with `output`, `result`, `error` and `files`. The stage then shows `code` as Python and
    cuts long output; each listed file is read from the server and kept."""


class McpToolSet(Named, McpTools):
    """The tools of an MCP server."""

    type: Literal["mcp"] = "mcp"
    """Says that the tools are those of an MCP server."""
    mcp_server_info: McpServer
    """Where the server is, and how it is told who is calling."""
    is_optional: bool = False
    """True: leave the toolset out, without a word, where no program is registered as its `server`.
    False: the answer says that it is missing."""
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
    """Stands in front of the names of its tools where Core tells no name of the toolset; left out, what
    the server calls itself. Hooks and sub-agents call the toolset by it."""
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
