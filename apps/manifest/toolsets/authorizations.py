"""Defines the authentication methods for REST services and MCP servers."""

from typing import Annotated, Literal

from pydantic import Field

from apps.manifest.nodes import Marks, Node
from apps.manifest.secrets import Credential

CREDENTIAL = Marks(credential=True)


class Authorization(Node):
    """The base class of all authorizations. An unknown key is treated as a credential, because it
    may contain one.
    """


class BasicAuthorization(Authorization):
    """Sends a username and a password in the `Authorization` header."""

    type: Literal["basic"] = "basic"
    """QuickApps sends a username and a password."""
    username: str
    """The username."""
    password: Credential = Field(json_schema_extra=CREDENTIAL)
    """The password. Prefer a reference to a secret."""


class BearerAuthorization(Authorization):
    """Sends a token in the `Authorization` header."""

    type: Literal["bearer"] = "bearer"
    """QuickApps sends a token."""
    token: Credential = Field(json_schema_extra=CREDENTIAL)
    """The token, without `Bearer`. Prefer a reference to a secret."""


class ClientIdSecretAuthorization(Authorization):
    """OAuth client credentials. QuickApps fetches a token from `token_url`, caches it, and renews
    it when it expires or is rejected.
    """

    type: Literal["client_id_secret"] = "client_id_secret"
    """QuickApps fetches a token with client credentials."""
    client_id: str
    """The client ID."""
    client_secret: Credential = Field(json_schema_extra=CREDENTIAL)
    """The client secret. Prefer a reference to a secret."""
    token_url: str
    """The token URL, such as `https://id.example.com/oauth/token`."""
    scope: str | None = None
    """The scope of the token. Separate several scopes with spaces: `tickets.read tickets.write`.
    Null: not sent.
    """
    aud: str | None = None
    """The audience of the token, sent as `audience`. Null: not sent."""


class NamedKeyAuthorization(Authorization):
    """The common fields of authorizations that send a key under a name."""

    type: Literal["api_key"] = "api_key"
    """QuickApps sends a key."""
    key: Credential = Field(json_schema_extra=CREDENTIAL)
    """The key. Prefer a reference to a secret."""
    name: str
    """The name of the header or parameter that contains the key, such as `X-API-Key`."""


class McpApiKeyAuthorization(NamedKeyAuthorization):
    """Sends a key under `name` in a header or in the query."""

    location: Literal["header", "query"] = "header"
    """The part of the request that contains the key."""


class ApiKeyAuthorization(NamedKeyAuthorization):
    """Sends a key under `name` in a header, in the query or in the body."""

    location: Literal["header", "query", "body"]
    """The part of the request that contains the key."""


class ForwardAuthTokenAuthorization(Authorization):
    """Sends the caller's own bearer token."""

    type: Literal["forward_auth_token"] = "forward_auth_token"
    """QuickApps sends the caller's own bearer token. If the caller has no token, the call fails."""


class OAuthAuthorization(Authorization):
    """Each user signs in with their own account (OAuth 2.1). Omit the URLs and the client if the
    server publishes its URLs and supports client registration.
    """

    type: Literal["oauth"] = "oauth"
    """Each user signs in with their own account."""
    client_id: str | None = None
    """The client ID at the sign-in service. Null: this installation registers itself with the
    service.
    """
    client_secret: Credential = Field(default_factory=Credential, json_schema_extra=CREDENTIAL)
    """The client secret. Prefer a reference to a secret. Omit this field for a client without a
    secret.
    """
    authorization_url: str | None = None
    """The authorization URL. Null: the URL that the server publishes."""
    token_url: str | None = None
    """The token URL. Required with `authorization_url`. Null: the URL that the server publishes."""
    scope: str | None = None
    """The scope that users are asked to allow. Separate several scopes with spaces:
    `tickets.read tickets.write`. Null: the server's choice.
    """
    seconds: float | None = Field(default=600, gt=0)
    """The time in seconds that an answer waits for the user's sign-in. Null: no limit."""


class RestOAuthAuthorization(OAuthAuthorization):
    """Each user signs in with their own account (OAuth 2.1)."""

    client_id: str
    """The client ID at the sign-in service. At this service, register the installation's callback
    URL, `/connect/callback/`.
    """
    authorization_url: str
    """The authorization URL, such as `https://id.example.com/oauth/authorize`."""
    token_url: str
    """The token URL, such as `https://id.example.com/oauth/token`."""
    scope: str | None = None
    """The scope that users are asked to allow. Separate several scopes with spaces:
    `tickets.read tickets.write`. Null: not sent.
    """


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
    """Return the credentials in an authorization, each with the name of its field."""
    found = ((name, value) for name, value in how or ())
    return [(name, value) for name, value in found if isinstance(value, Credential)]
