"""What an administrator sees and does: every session's state, and trying a server out.

The asynchronous functions are for the event loop that runs applications; a synchronous view calls
them through `async_to_sync`.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from apps.capabilities.mcp.connection_failures import ConnectionFailed
from apps.capabilities.mcp.endpoints import find_endpoint
from apps.capabilities.mcp.listings import Listing, read_listing
from apps.capabilities.mcp.pool import current_pool
from apps.capabilities.mcp.session_slots import SessionSlot, State
from apps.errors import ToolError
from apps.manifest.mcp_toolsets import McpServer
from apps.workspace.egress.request_context import RequestContext
from apps.workspace.egress.urls import read_url


@dataclass(frozen=True, slots=True)
class PooledSession:
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


async def sessions() -> list[PooledSession]:
    """Every session that this process knows of, by server."""
    found = (session_of(slot) for slot in current_pool().slots.values())
    return sorted(found, key=lambda session: (session.server, session.bucket, session.id))


def session_of(slot: SessionSlot) -> PooledSession:
    failure = slot.last_failure
    listing: tuple[Listing] | None = slot.find("listing")
    endpoint = slot.endpoint
    return PooledSession(
        id=id(slot),
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


def title_of(server: McpServer) -> str:
    """How sessions with that server are called. Raises `AddressInvalid`."""
    if server.protocol == "stdio":
        return server.server
    return read_url(server.url).parts._replace(fragment="", query="").geturl()


async def list_server(server: McpServer, bucket: str, seconds: float = 30.0) -> Listing:
    """Return what the server lists now. Raises `ToolError`, `Unsupported`."""
    endpoint = await find_endpoint(server)
    async with current_pool().leases() as leases:
        slot = leases.take(endpoint, bucket)
        slot.forget_lists()
        try:
            context = RequestContext(seconds=seconds)
            return await slot.cached("listing", context, read_listing)
        except ConnectionFailed as failure:
            raise ToolError(failure.message(endpoint.title)) from failure


async def reconnect(session_id: int, seconds: float = 30.0) -> PooledSession | None:
    """End a session and open it again, however often it failed; None if there is none of that id.

    Whether that worked is in its state.
    """
    slots = current_pool().slots.values()
    slot = next((slot for slot in slots if id(slot) == session_id), None)
    if slot is None:
        return None
    await slot.reset()
    with suppress(ConnectionFailed):
        await slot.cached("listing", RequestContext(seconds=seconds), read_listing)
    return session_of(slot)
