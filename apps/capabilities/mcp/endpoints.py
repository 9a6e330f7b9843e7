"""Where a server is and how it is told who is calling: what makes two connections the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from apps.capabilities.mcp.echoes import Sent
from apps.errors import Unsupported
from apps.manifest.authorizations import (
    BasicAuthorization,
    BearerAuthorization,
    ClientIdSecretAuthorization,
    McpApiKeyAuthorization,
    McpAuthorization,
    credentials_in,
)
from apps.manifest.toolsets import McpServer
from apps.workspace.egress.errands import Authorize
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.headers import basic, header_name_problem, header_value_problem
from apps.workspace.egress.tokens import find_tokens
from apps.workspace.egress.urls import AddressInvalid, read_url
from apps.workspace.local import mcp_servers
from apps.workspace.local.mcp_servers import RegisteredServer
from apps.workspace.local.stored_secrets import Need, refusals, reveal, versions


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Hashable: two toolsets with equal endpoints may share a connection.

    `program` is set with the protocol `stdio`, `url` with the others. `carried` is a hash of the
    headers that a run brings along, "" for none. `secrets` are those that the authorization names,
    each with its version: a session that was opened with an older one is another.
    """

    protocol: Literal["sse", "streamable_http", "stdio"]
    url: str = ""
    trust: Trust = Trust.OPERATOR
    authorization: McpAuthorization | None = field(default=None, repr=False)
    program: RegisteredServer | None = None
    carried: str = ""
    secrets: tuple[tuple[str, int], ...] = ()

    @property
    def title(self) -> str:
        """For the administrator; an address may carry a secret in its query, so without it."""
        return self.program.name if self.program is not None else self.url.partition("?")[0]

    def authorizing(self, sent: Sent) -> Authorize:
        return partial(authorize, self.authorization, self.url, sent)


async def find_endpoint(info: McpServer) -> Endpoint:
    """Raises `AddressInvalid`, and `Unsupported` for a registered server or a secret that there is
    not, and for a secret that is not meant for the server.
    """
    if info.protocol == "stdio":
        return Endpoint("stdio", program=await mcp_servers.find(info.server))
    address = read_url(info.url)
    trust = Trust.SITE if address.is_site else Trust.OPERATOR
    url = address.parts._replace(fragment="").geturl()
    how = info.authorization
    for place, problem in (await refusals(needs_of(info))).items():
        raise Unsupported(f"{place}: {problem}")
    secrets = await versions({credential.secret for _, credential in credentials_in(how)} - {""})
    return Endpoint(info.protocol, url, trust, how, secrets=secrets)


def needs_of(info: McpServer) -> list[Need]:
    how = info.authorization
    tokens = (how.token_url,) if isinstance(how, ClientIdSecretAuthorization) else ()
    return [
        Need(f"mcp_server_info.authorization.{name}", credential, (info.url, *tokens))
        for name, credential in credentials_in(how)
    ]


def endpoint_problem(info: McpServer) -> tuple[str, str]:
    """Which field cannot be used, and why; two empty texts when all can."""
    if info.protocol != "stdio":
        try:
            read_url(info.url)
        except AddressInvalid as error:
            return "url", str(error)
    how = info.authorization
    if isinstance(how, BearerAuthorization):
        return "authorization", header_value_problem(how.token.text)
    if isinstance(how, McpApiKeyAuthorization):
        return "authorization", header_name_problem(how.name) or header_value_problem(how.key.text)
    if isinstance(how, ClientIdSecretAuthorization):
        try:
            read_url(how.token_url)
        except AddressInvalid as error:
            return "authorization.token_url", str(error)
    return "", ""


async def authorize(
    how: McpAuthorization | None, url: str, sent: Sent, refused: str
) -> tuple[dict[str, str], str]:
    """Headers with the credentials for that address, and the token among them if another can be fetched.

    What will be sent is added to `sent`.
    Raises `ToolError` when there are none to add.
    """
    match how:
        case BasicAuthorization():
            password = (await reveal(how.password, url)).text
            header = basic(how.username, password)
            sent.add(password, header.partition(" ")[2])
            return {"Authorization": header}, ""
        case BearerAuthorization():
            bearer = (await reveal(how.token, url)).text
            sent.add(bearer)
            return {"Authorization": f"Bearer {bearer}"}, ""
        case McpApiKeyAuthorization():
            key = (await reveal(how.key, url)).text
            sent.add(key)
            return {how.name: key}, ""
        case ClientIdSecretAuthorization():
            token = await find_tokens(how).current(url, refused)
            sent.add(token)
            return {"Authorization": f"Bearer {token}"}, token
        case None:
            return {}, ""
