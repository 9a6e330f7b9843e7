"""Defines MCP servers, and the common fields of toolsets whose tools a server lists."""

from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from apps.manifest.nodes import IN_PREVIEW, Node
from apps.manifest.toolsets.attachments import AttachmentFilter
from apps.manifest.toolsets.authorizations import McpAuthorization
from apps.manifest.toolsets.fallback_strategies import Fallback


class McpResource(Node):
    """A resource of an MCP server."""

    uri: str
    """The URI of the resource on the server. The server does not have to list the resource."""
    eager: bool = False
    """Add the resource's text to the conversation before the first answer. False: the model can
    read the resource on demand.
    """


class McpResources(Node):
    """Resources of an MCP server."""

    enabled: bool = False
    """List the server's resources in the prompt, and give the model the tool `read_mcp_resource`."""
    items: tuple[McpResource, ...] | None = None
    """The resources that the model may read. Null: all resources that the server lists."""


class McpServerInfo(Node):
    """The server: a URL, or the name under which it is registered with the installation."""

    url: str = Field(default_factory=str)
    """The URL of the server, such as `https://mcp.example.com/mcp`. A URL that begins with `/`
    refers to this server. Required for `streamable_http` and `sse`, ignored for `stdio`.
    """
    protocol: Literal["sse", "streamable_http", "stdio"]
    """The transport. `streamable_http` and the older `sse` use HTTP. `stdio` starts a program on
    this machine.
    """
    server: str = Field(default_factory=str)
    """The name of a program registered by an administrator under *MCP servers*. Required for
    `stdio`.
    """
    authorization: McpAuthorization | None = None
    """The authentication for the server. Null: none."""

    @model_validator(mode="after")
    def _says_where(self) -> Self:
        if self.protocol == "stdio":
            if not self.server:
                raise PydanticCustomError(
                    "server_missing",
                    "has no `server`; set it to the name of a registered server",
                )
        elif "url" not in self.model_fields_set:
            raise PydanticCustomError(
                "url_missing", "has no `url`; set it to the URL of the server"
            )
        return self


class RemoteTools(Node):
    """Fields of toolsets whose tools a server lists."""

    allowed_tools: tuple[str, ...] | None = None
    """Names of the tools to use, as the server lists them, such as `["find_ticket"]`. Null or `[]`:
    all tools.
    """
    hidden_from_model: tuple[str, ...] | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """Names of tools, as the server lists them, that hooks may call but that the model does not
    see. If `allowed_tools` is not empty, it must also contain these names. Null: none.
    """
    attachment: AttachmentFilter = Field(default_factory=AttachmentFilter)
    """Selects which files in tool results are stored, and which of them the answer shows. Applies
    to all tools.
    """
    fallback_configuration: Fallback = Field(default_factory=Fallback)
    """Controls what happens when a tool call fails. Omitted: the model gets the error and
    continues.
    """
    is_repeatable: bool | None = None
    """True if calling a tool twice has the same effect as calling it once. If true, QuickApps
    repeats a call whose process ended before the result was known. If false, QuickApps informs the
    model that the call may have been executed. Null: the server's declaration for each tool, or
    else false.
    """
    is_untrusted: bool | None = None
    """True if third parties control the results and resources, as in a web search. After such a
    result, `approval.after_untrusted` can require approval for calls. Null: the server's
    declaration for each tool (`openWorldHint`), or else false.
    """

    @model_validator(mode="after")
    def _hides_what_it_allows(self) -> Self:
        if not self.allowed_tools or not self.hidden_from_model:
            return self
        unknown = [name for name in self.hidden_from_model if name not in self.allowed_tools]
        if unknown:
            raise PydanticCustomError(
                "hidden_not_allowed",
                "`hidden_from_model` contains {names}, which `allowed_tools` lacks; add it "
                "there too",
                {"names": ", ".join(map(repr, unknown))},
            )
        return self


class McpTools(RemoteTools):
    """Fields of toolsets whose server speaks MCP."""

    resources: McpResources | None = None
    """The server's resources that the model may read. Null: none."""
    server_instructions: bool = False
    """Add the server's instructions to the prompt. The instructions may come from a third party, so
    enable this field only if you trust the server.
    """
    failure_texts: tuple[str, ...] | None = None
    """Texts such as `["Error:", "No results were found"]`. A result that starts with one of them
    counts as a failure, even if the server does not mark it as an error. Case is ignored. Null:
    only results that the server marks as errors count as failures.
    """
    result_format: Literal["blocks", "execution"] = "blocks"
    """The format of results. `blocks`: the protocol's own format. `execution`: reports from a
    Python interpreter with `output`, `result`, `error` and `files`. The stage then shows `code` as
    Python, and truncates long output. QuickApps reads each listed file from the server and stores
    it.
    """
