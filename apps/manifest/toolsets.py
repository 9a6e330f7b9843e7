"""The kinds of toolset that an application can be given."""

import re
from typing import Annotated, Any, Literal
from urllib.parse import unquote

from pydantic import Field, WithJsonSchema, field_serializer

from apps.manifest.attachments import ResponseAsAttachment
from apps.manifest.authorizations import RestAuthorization
from apps.manifest.client_tools import ClientToolSet
from apps.manifest.mcp_toolsets import UNNAMED, DialMcpToolSet, McpToolSet
from apps.manifest.names import localized
from apps.manifest.nodes import Marks, Node
from apps.manifest.overrides import Override
from apps.manifest.secrets import Credential, dumped, reads_as_credential
from apps.manifest.shared_fields import Named, RemoteTools
from apps.manifest.tools import (
    AnyDeploymentTool,
    AnyInternalTool,
    AnyRestTool,
    ConversationMode,
    RestMethod,
)

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
    is_repeatable: bool | None = None
    """Whether two calls of a tool have the effect of one, for the tools that do not say so themselves.
    Null: as is known of each."""
    is_untrusted: bool | None = None
    """Whether others decide what the results say, for the tools that do not say so themselves. Null:
    they do not."""
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
    is_repeatable: bool | None = None
    """Whether two calls of a tool have the effect of one, for the tools that do not say so themselves.
    Null: as is known of each."""
    is_untrusted: bool | None = None
    """Whether others decide what the results say, for the tools that do not say so themselves. Null:
    they do not."""
    tools: tuple[AnyDeploymentTool, ...]
    """The deployments: with a function of your own, with a generated one, or predefined."""


class InternalToolSet(Named):
    """Tools of the platform itself."""

    type: Literal["internal"] = "internal"
    """Says that the tools are the platform's own."""
    tools: tuple[AnyInternalTool, ...]
    """The tools: written out, or predefined."""


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


WrittenToolSet = RestToolSet | DeploymentToolSet | InternalToolSet
"""The kinds whose tools stand in the manifest as functions, or are predefined."""

ToolSet = Annotated[
    WrittenToolSet
    | McpToolSet
    | DialAppToolSet
    | DialMcpToolSet
    | ClientToolSet
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
