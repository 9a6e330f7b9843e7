"""What a server offers: its tools, its resources, and what it says about their use."""

import hashlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import mcp_types as types
from mcp import Client

from apps.capabilities.mcp.connection_failures import ConnectionFailed

logger = logging.getLogger(__name__)

MOST_PAGES = 100
MOST_LISTED = 5_000
MOST_RESOURCES = 500


P = TypeVar("P", types.ListToolsResult, types.ListResourcesResult)


@dataclass(frozen=True, slots=True)
class Listing:
    """`fingerprint` is the same for the same tools, whichever caller they were listed for."""

    tools: tuple[types.Tool, ...]
    instructions: str
    fingerprint: str
    has_resources: bool


async def read_listing(client: Client) -> Listing:
    """Raises `ConnectionFailed` for more tools than anybody can mean."""
    capabilities = client.server_capabilities
    tools = await read_tools(client) if capabilities.tools is not None else ()
    if capabilities.tools is None:
        logger.warning("An MCP server does not advertise tools; it is not asked for any.")
    digest = hashlib.sha256()
    for tool in tools:
        digest.update(tool.model_dump_json().encode())
    return Listing(
        tools, client.instructions or "", digest.hexdigest(), capabilities.resources is not None
    )


async def read_tools(client: Client) -> tuple[types.Tool, ...]:
    found: list[types.Tool] = []
    async for page in pages(client.list_tools):
        found += page.tools
        if len(found) > MOST_LISTED:
            break
        if page.next_cursor is None:
            return tuple(found)
    raise ConnectionFailed(f"the server lists more than {MOST_LISTED:,} tools.")


async def read_resources(client: Client) -> tuple[types.Resource, ...]:
    """The first `MOST_RESOURCES`: they go into a prompt."""
    found: list[types.Resource] = []
    if client.server_capabilities.resources is not None:
        async for page in pages(client.list_resources):
            found += page.resources
            if len(found) >= MOST_RESOURCES:
                break
    return tuple(found[:MOST_RESOURCES])


async def pages(ask: Callable[..., Awaitable[P]]) -> AsyncIterator[P]:
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await ask(cursor=cursor)
        yield page
        cursor = page.next_cursor
        if cursor is None:
            return
