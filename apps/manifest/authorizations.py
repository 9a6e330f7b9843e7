"""How a REST service or an MCP server is told who is calling."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from apps.manifest.nodes import Marks, Node
from apps.manifest.secrets import Credential

CREDENTIAL = Marks(credential=True)


class Authorization(Node):
    """What a document says here in vain may be a credential all the same."""


class BasicAuthorization(Authorization):
    type: Literal["basic"] = "basic"
    username: str
    password: Credential = Field(json_schema_extra=CREDENTIAL)


class BearerAuthorization(Authorization):
    type: Literal["bearer"] = "bearer"
    token: Credential = Field(json_schema_extra=CREDENTIAL)


class ClientIdSecretAuthorization(Authorization):
    """OAuth client credentials: a token is fetched from `token_url`."""

    type: Literal["client_id_secret"] = "client_id_secret"
    client_id: str
    client_secret: Credential = Field(json_schema_extra=CREDENTIAL)
    token_url: str
    scope: str | None = None
    aud: str | None = None


class McpApiKeyAuthorization(Authorization):
    """A key in the header `name`."""

    type: Literal["api_key"] = "api_key"
    key: Credential = Field(json_schema_extra=CREDENTIAL)
    name: str


class ApiKeyAuthorization(McpApiKeyAuthorization):
    """A key under `name` in the given place."""

    location: Literal["header", "query", "body"]


class ForwardAuthTokenAuthorization(Authorization):
    """The caller's own bearer token is sent on."""

    type: Literal["forward_auth_token"] = "forward_auth_token"


RestAuthorization = Annotated[
    BasicAuthorization
    | BearerAuthorization
    | ClientIdSecretAuthorization
    | ApiKeyAuthorization
    | ForwardAuthTokenAuthorization,
    Field(discriminator="type"),
]

McpAuthorization = Annotated[
    BearerAuthorization | McpApiKeyAuthorization | ClientIdSecretAuthorization | BasicAuthorization,
    Field(discriminator="type"),
]


def credentials_in(
    how: RestAuthorization | McpAuthorization | None,
) -> list[tuple[str, Credential]]:
    """The credentials of an authorization, by the names of their fields."""
    found = ((name, value) for name, value in how or ())
    return [(name, value) for name, value in found if isinstance(value, Credential)]
