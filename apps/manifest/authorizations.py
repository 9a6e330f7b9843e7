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


class OAuthAuthorization(Authorization):
    """Each person signs in with an account of their own (OAuth 2.1). Where the server says so itself,
    neither the addresses nor a client have to be written."""

    type: Literal["oauth"] = "oauth"
    """Says that each person signs in with an account of their own."""
    client_id: str | None = None
    """The client's id at the sign-in service. Null: this installation registers itself there."""
    client_secret: Credential = Field(default_factory=Credential, json_schema_extra=CREDENTIAL)
    """The client's secret; better the name of a secret than the text. It is left out for a client
    without one."""
    authorization_url: str | None = None
    """Address at which people sign in. Null: as the server says."""
    token_url: str | None = None
    """Address that gives tokens. It is written if `authorization_url` is. Null: as the server says."""
    scope: str | None = None
    """What people are asked to allow, with spaces between several: `tickets.read tickets.write`. Null:
    as the server says."""
    seconds: float | None = Field(default=600, gt=0)
    """How long an answer waits until the person has signed in. Null: until they have."""


class RestOAuthAuthorization(OAuthAuthorization):
    """Each person signs in with an account of their own (OAuth 2.1)."""

    client_id: str
    """The client's id at the sign-in service. It has to be registered there with the address
    `/connect/callback/` of this installation."""
    authorization_url: str
    """Address at which people sign in, such as `https://id.example.com/oauth/authorize`."""
    token_url: str
    """Address that gives tokens, such as `https://id.example.com/oauth/token`."""
    scope: str | None = None
    """What people are asked to allow, with spaces between several: `tickets.read tickets.write`. Null:
    not sent."""


RestAuthorization = Annotated[
    BasicAuthorization
    | BearerAuthorization
    | ClientIdSecretAuthorization
    | ApiKeyAuthorization
    | ForwardAuthTokenAuthorization
    | RestOAuthAuthorization,
    Field(discriminator="type"),
]

McpAuthorization = Annotated[
    BearerAuthorization
    | McpApiKeyAuthorization
    | ClientIdSecretAuthorization
    | BasicAuthorization
    | OAuthAuthorization,
    Field(discriminator="type"),
]


def credentials_in(
    how: RestAuthorization | McpAuthorization | None,
) -> list[tuple[str, Credential]]:
    """The credentials of an authorization, by the names of their fields."""
    found = ((name, value) for name, value in how or ())
    return [(name, value) for name, value in found if isinstance(value, Credential)]
