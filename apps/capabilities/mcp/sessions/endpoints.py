"""Finds the URL of an MCP server, and the credentials for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Literal, assert_never
from uuid import UUID

from apps.capabilities.mcp.messages.redaction import SentCredentials
from apps.errors import Unsupported
from apps.manifest.toolsets.authorizations import (
    BasicAuthorization,
    BearerAuthorization,
    ClientIdSecretAuthorization,
    McpApiKeyAuthorization,
    McpAuthorization,
    OAuthAuthorization,
    credentials_in,
)
from apps.manifest.toolsets.mcp import McpServerInfo
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.headers import basic, header_name_problem, header_value_problem
from apps.workspace.egress.oauth_tokens import find_tokens
from apps.workspace.egress.session_transport import Authorize, RequestCredentials
from apps.workspace.egress.urls import AddressInvalid, read_url
from apps.workspace.local.secrets.stored_secrets import (
    SecretNeed,
    reveal,
    unsendable_credentials,
    versions,
)
from apps.workspace.local.tools import mcp_servers
from apps.workspace.local.tools.mcp_servers import RegisteredServer
from apps.workspace.oauth.accounts import access_token


@dataclass(frozen=True, slots=True)
class ServerEndpoint:
    """A server with the credentials of one caller. Toolsets with equal endpoints can share a
    connection.
    """

    protocol: Literal["sse", "streamable_http", "stdio"]
    url: str = ""
    """The server's URL, or "" for the protocol `stdio`."""
    trust: Trust = Trust.OPERATOR
    authorization: McpAuthorization | None = field(default=None, repr=False)
    program: RegisteredServer | None = None
    """The program that runs the server, for the protocol `stdio`."""
    carried: str = ""
    """A hash of the headers from the caller's request, or ""."""
    secrets: tuple[tuple[str, int], ...] = ()
    """The names and versions of the secrets in use. A new version requires a new session."""
    seat: int = 0
    """The number of a session that serves one run at a time, so that its server may ask the user. A
    session that runs share has the number 0.
    """
    account: tuple[UUID, datetime | None] | None = None
    """The user's own account on the server, and the time of the sign-in."""

    @property
    def title(self) -> str:
        """Return the program's name, or the URL without its query, because a query may contain
        secrets.
        """
        return self.program.name if self.program is not None else self.url.partition("?")[0]

    def authorizing(self, sent: SentCredentials) -> Authorize:
        if self.account is not None:
            return partial(authorize_person, self.account[0], sent)
        return partial(authorize, self.authorization, self.url, sent)


async def find_endpoint(info: McpServerInfo) -> ServerEndpoint:
    """Return the endpoint of a server. Raises `AddressInvalid` if its URL is invalid.

    Raises `Unsupported` if the program or a secret does not exist, or if a secret may not be sent
    to the server.
    """
    if info.protocol == "stdio":
        return ServerEndpoint("stdio", program=await mcp_servers.find(info.server))
    address = read_url(info.url)
    trust = Trust.SITE if address.is_site else Trust.OPERATOR
    url = address.parts._replace(fragment="").geturl()
    how = info.authorization
    for place, problem in (await unsendable_credentials(needs_of(info))).items():
        raise Unsupported(f"{place}: {problem}")
    secrets = await versions({credential.secret for _, credential in credentials_in(how)} - {""})
    return ServerEndpoint(info.protocol, url, trust, how, secrets=secrets)


def needs_of(info: McpServerInfo) -> list[SecretNeed]:
    how = info.authorization
    token_url = getattr(how, "token_url", None)
    tokens = (token_url,) if token_url else ()
    return [
        SecretNeed(f"mcp_server_info.authorization.{name}", credential, (info.url, *tokens))
        for name, credential in credentials_in(how)
    ]


def endpoint_problem(info: McpServerInfo) -> tuple[str, str]:
    """Return the name of an invalid field and the reason, or two empty strings."""
    how = info.authorization
    problem = address_problem({} if info.protocol == "stdio" else {"url": info.url})
    if problem[1]:
        return problem
    if isinstance(how, BearerAuthorization):
        return "authorization", header_value_problem(how.token.text)
    if isinstance(how, McpApiKeyAuthorization) and how.location == "header":
        return "authorization", header_name_problem(how.name) or header_value_problem(how.key.text)
    if isinstance(how, OAuthAuthorization) and bool(how.authorization_url) != bool(how.token_url):
        return "authorization", "set both `authorization_url` and `token_url`, or neither."
    names = ("authorization_url", "token_url")
    urls = {f"authorization.{name}": getattr(how, name, None) for name in names}
    return address_problem({name: url for name, url in urls.items() if url is not None})


def address_problem(addresses: Mapping[str, str]) -> tuple[str, str]:
    for name, url in addresses.items():
        try:
            read_url(url)
        except AddressInvalid as error:
            return name, str(error)
    return "", ""


async def authorize(
    how: McpAuthorization | None, url: str, sent: SentCredentials, refused: str
) -> RequestCredentials:
    """Return the credentials for the URL, and add them to `sent`. Raises `ToolError` if they are
    unavailable.

    `refused` is a token that the server has rejected, or "".
    """
    match how:
        case None | OAuthAuthorization():  # nobody is signed in
            return RequestCredentials()
        case BasicAuthorization():
            secret = (await reveal(how.password, url)).text
            header = basic(how.username, secret)
            sent.add(header.partition(" ")[2])
            credentials = RequestCredentials({"Authorization": header})
        case BearerAuthorization():
            secret = (await reveal(how.token, url)).text
            credentials = RequestCredentials(bearer(secret))
        case McpApiKeyAuthorization():
            secret = (await reveal(how.key, url)).text
            named = {how.name: secret}
            is_query = how.location == "query"
            credentials = RequestCredentials(query=named) if is_query else RequestCredentials(named)
        case ClientIdSecretAuthorization():
            secret = await find_tokens(how).current(url, refused)
            credentials = RequestCredentials(bearer(secret), token=secret)
        case _:
            assert_never(how)
    sent.add(secret)
    return credentials


async def authorize_person(
    account: UUID, sent: SentCredentials, refused: str
) -> RequestCredentials:
    """Return the credentials for a user's own account, and add them to `sent`. Raises `ToolError`
    if they are unavailable.

    `refused` is a token that the server has rejected, or "".
    """
    token = await access_token(account, refused)
    if not token:
        return RequestCredentials()
    sent.add(token)
    return RequestCredentials(bearer(token), token=token)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
