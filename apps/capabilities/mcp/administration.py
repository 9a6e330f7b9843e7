"""What an administrator sees and does: every session's state, and trying a server out.

All functions are for the event loop that runs applications; from a synchronous view, call them
through `async_to_sync`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import mcp_types as types
from mcp import Client

from apps.capabilities.mcp.connections import call_tool as ask_tool
from apps.capabilities.mcp.contacts import Contact, State
from apps.capabilities.mcp.endpoints import find_endpoint
from apps.capabilities.mcp.failures import ConnectionFailed
from apps.capabilities.mcp.listings import Listing, read_listing
from apps.capabilities.mcp.pool import current_pool
from apps.capabilities.mcp.results import text_of
from apps.errors import ToolError
from apps.manifest.toolsets import McpServer
from apps.workspace.egress.errands import Errand
from apps.workspace.egress.urls import read_url


@dataclass(frozen=True, slots=True)
class Session:
    """One pooled session. `id` is good for `reconnect` while the process lives.

    `error` is a sentence, `details` what a program wrote last or what lay under the error.
    `tools` are the server's names of its tools, as far as they are known; `version` is that of the
    row which says how a program is started. `since` is when it was connected, None while it is not.
    """

    id: int
    server: str
    protocol: str
    bucket: str
    state: State
    tools: tuple[str, ...]
    users: int
    opened: int
    version: int | None = None
    since: datetime | None = None
    error: str = ""
    details: str = field(default="", repr=False)
    failed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ServerTool:
    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trial:
    """What a call brought; attachments are counted, not kept."""

    text: str
    failed: bool
    attachments: int


async def sessions() -> list[Session]:
    """Every session that this process knows of, by server."""
    found = (session_of(contact) for contact in current_pool().contacts.values())
    return sorted(found, key=lambda session: (session.server, session.bucket, session.id))


def session_of(contact: Contact) -> Session:
    failure = contact.last_failure
    listing: tuple[Listing] | None = contact.recall("listing")
    program = contact.endpoint.program
    return Session(
        id=id(contact),
        server=contact.endpoint.title,
        protocol=contact.endpoint.protocol,
        bucket=contact.bucket,
        state=contact.state,
        tools=tuple(tool.name for tool in listing[0].tools) if listing is not None else (),
        users=contact.users,
        opened=contact.opened,
        version=program.version if program is not None else None,
        since=connected_since(contact),
        error=failure.told(contact.endpoint.title) if failure is not None else "",
        details=details_of(failure) if failure is not None else "",
        failed_at=contact.failed_at,
    )


def connected_since(contact: Contact) -> datetime | None:
    connection = contact.connection
    if connection is None or not connection.is_open:
        return None
    seconds = asyncio.get_running_loop().time() - connection.opened_at
    return datetime.now(UTC) - timedelta(seconds=seconds)


def details_of(failure: ConnectionFailed) -> str:
    return "\n".join(filter(None, (failure.details, failure.last_words)))


def title_of(server: McpServer) -> str:
    """How sessions with that server are called. Raises `AddressInvalid`."""
    if server.protocol == "stdio":
        return server.server
    return read_url(server.url).parts._replace(fragment="", query="").geturl()


async def list_tools(server: McpServer, bucket: str, seconds: float = 30.0) -> list[ServerTool]:
    """The server's tools as it tells them now. Raises `ToolError`, `Unsupported`."""
    endpoint = await find_endpoint(server)
    async with current_pool().leases() as leases:
        contact = leases.take(endpoint, bucket)
        contact.forget_lists()
        try:
            listing = await contact.known("listing", Errand(seconds=seconds), read_listing)
        except ConnectionFailed as failure:
            raise ToolError(failure.told(endpoint.title)) from failure
    return [
        ServerTool(tool.name, tool.description or "", tool.input_schema) for tool in listing.tools
    ]


async def call_tool(
    server: McpServer,
    bucket: str,
    name: str,
    arguments: Mapping[str, Any],
    seconds: float = 30.0,
) -> Trial:
    """Call one tool by the server's own name. Raises `ToolError`, `Unsupported`, TimeoutError."""
    endpoint = await find_endpoint(server)

    async def ignore(progress: float, total: float | None, message: str | None) -> None:
        return None

    async def question(client: Client) -> types.CallToolResult:
        return await ask_tool(client, name, dict(arguments), ignore)

    async with current_pool().leases() as leases:
        contact = leases.take(endpoint, bucket)
        try:
            async with asyncio.timeout(seconds):
                answer = await contact.ask(Errand(seconds=seconds), question)
        except ConnectionFailed as failure:
            raise ToolError(failure.told(endpoint.title)) from failure
    blobs = [block for block in answer.content if block.type in {"image", "audio", "resource"}]
    return Trial(text_of(answer), answer.is_error, len(blobs))


async def reconnect(session_id: int, seconds: float = 30.0) -> Session | None:
    """End a session and open it anew, however often it failed; None if there is none such.

    How it went is in the state.
    """
    contacts = current_pool().contacts.values()
    contact = next((contact for contact in contacts if id(contact) == session_id), None)
    if contact is None:
        return None
    await contact.reset()
    with suppress(ConnectionFailed):  # it is part of the state
        await contact.known("listing", Errand(seconds=seconds), read_listing)
    return session_of(contact)
