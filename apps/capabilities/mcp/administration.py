"""Lists MCP sessions for administrators, and tests servers.

The asynchronous functions must run on the event loop that runs applications. Synchronous views call
them through `async_to_sync`.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from apps.capabilities.mcp.sessions.endpoints import find_endpoint
from apps.capabilities.mcp.sessions.failures import ConnectionFailed
from apps.capabilities.mcp.sessions.listings import Listing, ListingReader
from apps.capabilities.mcp.sessions.pool import current_pool
from apps.capabilities.mcp.sessions.slots import SessionSlot, State
from apps.errors import ToolError
from apps.manifest.toolsets.mcp import McpServerInfo
from apps.workspace.egress.request_context import RequestContext
from apps.workspace.egress.urls import read_url


@dataclass(frozen=True, slots=True)
class PooledSession:
    """The state of a session in the pool."""

    id: int
    """The ID to pass to `reconnect`. It is valid until the process ends."""
    server: str
    protocol: str
    bucket: str
    state: State
    tools: tuple[str, ...]
    """The tool names in the cached list, or () if no list is cached."""
    users: int
    opened: int
    version: int | None = None
    """The version of the stored command, or None if the server is not a program."""
    since: datetime | None = None
    """The time at which the session connected, or None if it is disconnected."""
    error: str = ""
    """A sentence that describes the last failure."""
    details: str = field(default="", repr=False)
    """The causes of the error, followed by a program's last output."""
    failed_at: datetime | None = None


async def sessions() -> list[PooledSession]:
    """Return all sessions of this process, sorted by server."""
    found = (session_of(slot) for slot in current_pool().slots.values())
    return sorted(found, key=lambda session: (session.server, session.bucket, session.id))


def session_of(slot: SessionSlot) -> PooledSession:
    failure = slot.last_failure
    listing: tuple[Listing] | None = slot.find("listing")
    endpoint = slot.endpoint
    return PooledSession(
        id=slot.id,
        server=endpoint.title,
        protocol=endpoint.protocol,
        bucket=slot.bucket,
        state=slot.state,
        tools=tuple(tool.name for tool in listing[0].tools) if listing is not None else (),
        users=slot.users,
        opened=slot.opened,
        version=endpoint.program.version if endpoint.program is not None else None,
        since=connected_since(slot),
        error=failure.message(endpoint.title) if failure is not None else "",
        details="\n".join(filter(None, (failure.details, failure.last_words))) if failure else "",
        failed_at=slot.failed_at,
    )


def connected_since(slot: SessionSlot) -> datetime | None:
    connection = slot.connection
    if connection is None or not connection.is_open:
        return None
    seconds = asyncio.get_running_loop().time() - connection.opened_at
    return datetime.now(UTC) - timedelta(seconds=seconds)


def session_title(server: McpServerInfo) -> str:
    """Return the server's display name: its program's name, or its URL without the query. Raises
    `AddressInvalid` for an invalid URL.
    """
    if server.protocol == "stdio":
        return server.server
    return read_url(server.url).parts._replace(fragment="", query="").geturl()


async def list_server(server: McpServerInfo, bucket: str, seconds: float = 30.0) -> Listing:
    """Request a server's tools and instructions. Raises `ToolError` if the request fails, and
    `Unsupported` if a program or secret does not exist.
    """
    endpoint = await find_endpoint(server)
    async with current_pool().leases() as leases:
        slot = leases.take(endpoint, bucket)
        slot.forget_lists()
        try:
            context = RequestContext(seconds=seconds)
            reader = ListingReader()
            return await slot.cached("listing", context, reader.read, reader.late)
        except ConnectionFailed as failure:
            raise ToolError(failure.message(endpoint.title)) from failure


async def reconnect(session_id: int, seconds: float = 30.0) -> PooledSession | None:
    """Close and reopen a session, even if retries are paused after a failure. Return its new state,
    or None for an unknown ID.
    """
    slots = current_pool().slots.values()
    slot = next((slot for slot in slots if slot.id == session_id), None)
    if slot is None:
        return None
    await slot.reset()
    with suppress(ConnectionFailed):
        reader = ListingReader()
        await slot.cached("listing", RequestContext(seconds=seconds), reader.read, reader.late)
    return session_of(slot)
