"""Authorizations towards REST services and MCP servers."""

from typing import Annotated, Literal

from pydantic import Field

from apps.manifest.nodes import Marks, Node
from apps.manifest.secrets import Credential

CREDENTIAL = Marks(credential=True)


class Authorization(Node):
    """Unknown keys below it are treated as credentials, because they may hold one."""


class BasicAuthorization(Authorization):
    """A name and a password in the header `Authorization`."""

    type: Literal["basic"] = "basic"
    """Says that a name and a password are sent."""
    username: str
    """The name."""
    password: Credential = Field(json_schema_extra=CREDENTIAL)
    """The password; better the name of a secret than the text."""


class BearerAuthorization(Authorization):
    """A token in the header `Authorization`."""

    type: Literal["bearer"] = "bearer"
    """Says that a token is sent."""
    token: Credential = Field(json_schema_extra=CREDENTIAL)
    """The token, without `Bearer`; better the name of a secret than the text."""


class ClientIdSecretAuthorization(Authorization):
    """OAuth client credentials: a token is fetched from `token_url`, kept, and renewed when it
    expires or is refused."""

    type: Literal["client_id_secret"] = "client_id_secret"
    """Says that a token is fetched with client credentials."""
    client_id: str
    """The client's id."""
    client_secret: Credential = Field(json_schema_extra=CREDENTIAL)
    """The client's secret; better the name of a secret than the text."""
    token_url: str
    """Address that gives tokens, such as `https://id.example.com/oauth/token`."""
    scope: str | None = None
    """What the token is asked for, with spaces between several: `tickets.read tickets.write`. Null:
    not sent."""
    aud: str | None = None
    """For whom the token is, sent as `audience`. Null: not sent."""


class McpApiKeyAuthorization(Authorization):
    """A key in the header `name`."""

    type: Literal["api_key"] = "api_key"
    """Says that a key is sent."""
    key: Credential = Field(json_schema_extra=CREDENTIAL)
    """The key; better the name of a secret than the text."""
    name: str
    """What the service calls the key, such as `X-API-Key`."""


class ApiKeyAuthorization(McpApiKeyAuthorization):
    """A key under `name` in the given place."""

    location: Literal["header", "query", "body"]
    """Where in the request the key goes."""


class ForwardAuthTokenAuthorization(Authorization):
    """The caller's own bearer token is sent on."""

    type: Literal["forward_auth_token"] = "forward_auth_token"
    """Says that the caller's own bearer token is sent on. A call of somebody who has none fails."""


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
