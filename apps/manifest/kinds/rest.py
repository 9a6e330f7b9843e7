"""Defines toolsets of the kind `rest-api`."""

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema, field_serializer

from apps.manifest.kind import CardField, Kind
from apps.manifest.nodes import Marks
from apps.manifest.secrets import Credential, dump_credential, reads_as_credential
from apps.manifest.servers import has_host
from apps.manifest.toolsets.attachments import ResponseAsAttachment
from apps.manifest.toolsets.authorizations import RestAuthorization
from apps.manifest.toolsets.shared_fields import WrittenToolSet
from apps.manifest.toolsets.tools import AnyRestTool, RestMethod

Header = Annotated[Credential, WithJsonSchema({"type": "string", "x-credential": True})]
"""The value of a header, which may be a credential."""


class RestToolSet(WrittenToolSet):
    """Operations of a REST service."""

    kind = Kind(
        title="REST service",
        tools="operations of a REST service, each defined separately",
        order=1,
        is_prefixed=True,
        card=(
            CardField("text", "base_url", "Service URL", "https://api.example.com/v1"),
            CardField("authorization", "authorization"),
        ),
    )

    type: Literal["rest-api"] = "rest-api"
    """The tools are operations of a REST service."""
    base_url: str | None = None
    """The base URL for every `method_url` without a host, such as `https://api.example.com/v1`.
    Null: each tool has its own host.
    """
    headers: dict[str, Header] = Field(default_factory=dict, json_schema_extra=Marks(headers=True))
    """Headers that are sent with every call. Each value is a string or a reference to a secret. A
    tool's header overrides the shared header of the same name, and `authorization` overrides both.
    """
    authorization: RestAuthorization | None = None
    """The authentication for all tools in the toolset. Null: none."""
    response_as_attachment: ResponseAsAttachment | None = None
    """The responses to store as files. This value applies to tools that do not set this field
    themselves. Null: none, and the server logs a warning.
    """
    forward_headers: tuple[str, ...] | None = None
    """Names of the caller's `X-` headers to send to the service, such as `["X-Tenant"]`. These
    headers never override a header that the toolset sets. Null: none.
    """
    is_repeatable: bool | None = None
    """True if calling a tool twice has the same effect as calling it once. This value applies to
    tools that do not set this field themselves. Null: determined for each tool.
    """
    is_untrusted: bool | None = None
    """True if third parties control the results. This value applies to tools that do not set this
    field themselves. Null: false.
    """
    tools: tuple[AnyRestTool, ...]
    """The operations, defined inline or as references to predefined tools."""

    def address_of(self, method: RestMethod) -> str:
        """Return the URL of a tool. A `method_url` without a host is relative to `base_url`."""
        url = method.method_url
        if not self.base_url or has_host(url):
            return url
        return f"{self.base_url.rstrip('/')}/{url.lstrip('/')}"

    @field_serializer("headers")
    def _hides_credentials(self, headers: dict[str, Credential]) -> dict[str, Any]:
        return {
            name: dump_credential(value) if is_credential_header(name, value) else value.text
            for name, value in headers.items()
        }


def is_credential_header(name: str, value: Credential) -> bool:
    return reads_as_credential(name) or bool(value.secret)
