"""Use the server of a scenario like a run: list its tools, call them, and sign in if necessary."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import mcp_types as types
from mcp import Client

from apps.capabilities.mcp.sessions.connections import SessionConnection
from apps.capabilities.mcp.sessions.endpoints import ServerEndpoint
from apps.capabilities.mcp.sessions.failures import ConnectionFailed
from apps.capabilities.mcp.sessions.listings import Listing, ListingReader
from apps.capabilities.mcp.sessions.revisions import HandshakeServers
from apps.errors import ToolError
from apps.manifest.secrets import Credential
from apps.manifest.toolsets.authorizations import OAuthAuthorization
from apps.workspace.egress.clients import find_client
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.request_context import RequestContext
from apps.workspace.local.models import ToolAccount
from apps.workspace.oauth import accounts, sign_ins

SECONDS = 20.0
MOST_TURNS = 4
BUCKET = "user-1"
ONLY_LISTED = {"json-schema-ref-no-deref"}
VALUES: Mapping[str, Any] = {"integer": 1, "number": 1, "boolean": True, "array": []}


@dataclass(slots=True)
class Scenario:
    """A scenario. `given` are the suite's inputs: credentials of a client, and calls to make."""

    name: str
    url: str
    redirect_url: str
    given: Mapping[str, Any] = field(default_factory=dict)

    async def play(self) -> None:
        """Play a scenario. Raises `ConnectionFailed`, `ToolError`."""
        account: ToolAccount | None = None
        handshakes = HandshakeServers()
        for _ in range(MOST_TURNS):
            signed_in = None if account is None else (account.pk, account.connected_at)
            endpoint = ServerEndpoint(
                "streamable_http", self.url, Trust.OPERATOR, account=signed_in
            )
            connection = SessionConnection(endpoint, lambda: None, elicit, handshakes)
            try:
                await connection.open(RequestContext(seconds=SECONDS), SECONDS)
                await self.use(connection)
            except ConnectionFailed as failure:
                if not failure.refuses_account:
                    raise
                account = await self.sign_in(failure)
            else:
                return
            finally:
                await connection.close()

    async def use(self, connection: SessionConnection) -> None:
        listing = await connection.ask(RequestContext(seconds=SECONDS), ListingReader().read)
        for name, arguments in self.calls(listing):

            async def call(
                client: Client, name: str = name, arguments: dict[str, Any] = arguments
            ) -> types.CallToolResult:
                return await client.call_tool(name, arguments)

            try:
                await connection.ask(RequestContext(seconds=SECONDS), call)
            except ConnectionFailed as failure:
                if failure.refuses_account:
                    raise

    def calls(self, listing: Listing) -> list[tuple[str, dict[str, Any]]]:
        if self.name in ONLY_LISTED:
            return []
        if "toolCalls" in self.given:
            return [(call["name"], call["arguments"]) for call in self.given["toolCalls"]]
        values = {**VALUES, "object": listing.tools[0].input_schema} if listing.tools else VALUES
        return [(tool.name, fitting(tool.input_schema, values)) for tool in listing.tools]

    async def sign_in(self, failure: ConnectionFailed) -> ToolAccount:
        how = OAuthAuthorization(
            client_id=self.given.get("client_id"),
            client_secret=Credential(self.given.get("client_secret", "")),
        )
        wanted = accounts.RequiredAccount(self.url, "judge", how, failure.challenge)
        row = await accounts.ask_for(wanted, BUCKET)
        address = await sign_ins.begin(row.pk, BUCKET, self.redirect_url)
        answer = await find_client(Trust.OPERATOR).get(address)
        back = urlsplit(answer.headers["location"]).query
        return await sign_ins.complete(BUCKET, dict(parse_qsl(back)))


def fitting(schema: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments that the schema allows, judged by types. `values` are by type. For an
    object, one scenario expects the schema of its first tool."""
    properties = schema.get("properties", {})
    return {name: values.get(each.get("type"), "text") for name, each in properties.items()}


async def elicit(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    """Submit the form with its defaults."""
    schema = getattr(params, "requested_schema", {})
    fields = schema.get("properties", {})
    content = {name: one["default"] for name, one in fields.items() if "default" in one}
    return types.ElicitResult(action="accept", content=content)


async def play_next(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, redirect_url: str
) -> None:
    """Play the scenario that the relay sends, and report to it."""
    asked = json.loads(await reader.readline())
    given = json.loads(asked.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    scenario = Scenario(asked["MCP_CONFORMANCE_SCENARIO"], asked["url"], redirect_url, given)
    outcome = "done"
    try:
        await scenario.play()
    except (ConnectionFailed, ToolError) as error:
        outcome = f"{scenario.name}: {getattr(error, 'text', error)}"
    except Exception as error:  # noqa: BLE001 - the relay waits for an answer
        outcome = f"{scenario.name}: {error!r}"
    writer.write(outcome.encode() + b"\n")
    await writer.drain()
    writer.close()
