"""How a REST service or an MCP server is told who is calling."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from apps.manifest.nodes import Node


class BasicAuthorization(Node):
    type: Literal["basic"] = "basic"
    username: str
    password: str


class BearerAuthorization(Node):
    type: Literal["bearer"] = "bearer"
    token: str


class ClientIdSecretAuthorization(Node):
    """OAuth client credentials: a token is fetched from `token_url`."""

    type: Literal["client_id_secret"] = "client_id_secret"
    client_id: str
    client_secret: str
    token_url: str
    scope: str | None = None
    aud: str | None = None


class McpApiKeyAuthorization(Node):
    """A key in the header `name`."""

    type: Literal["api_key"] = "api_key"
    key: str
    name: str


class ApiKeyAuthorization(McpApiKeyAuthorization):
    """A key under `name` in the given place."""

    location: Literal["header", "query", "body"]


class ForwardAuthTokenAuthorization(Node):
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
