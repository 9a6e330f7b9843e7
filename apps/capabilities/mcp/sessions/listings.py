"""Reads the tools, resources and instructions of a server."""

import hashlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import mcp_types as types
from mcp import Client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from apps.capabilities.mcp.messages.result_bounds import LEFT_OUT, MOST_LISTED
from apps.capabilities.mcp.sessions.failures import is_closed, sentence_of
from apps.capabilities.wrappers.value_texts import one_line

logger = logging.getLogger(__name__)

MOST_PAGES = 100
MOST_RESOURCES = 500
NAME_CHARACTERS = 60


P = TypeVar("P", types.ListToolsResult, types.ListResourcesResult)


@dataclass(frozen=True, slots=True)
class Listing:
    """The tools and instructions of a server."""

    tools: tuple[types.Tool, ...]
    instructions: str
    fingerprint: str
    """A hash of the tools and problems. It does not depend on the caller."""
    has_resources: bool
    problems: tuple[str, ...] = ()
    """Sentences about omitted tools."""
    server_name: str = ""
    """The server's own name, or ""."""
    is_partial: bool = False
    """True if a page after the first could not be read."""


@dataclass(slots=True)
class ListingReader:
    """Reads the tools and instructions of a server."""

    client: Client | None = None
    found: dict[str, types.Tool] = field(default_factory=dict)
    """The tools of the pages that have arrived, by name."""
    problems: list[str] = field(default_factory=list)

    async def read(self, client: Client) -> Listing:
        self.client, self.found, self.problems = client, {}, []
        is_partial = False
        if client.server_capabilities.tools is not None:
            is_partial = await read_tools(client, self.found, self.problems)
        else:
            logger.warning("An MCP server does not advertise tools, so none are requested.")
        return listing_of(client, self.found, self.problems, is_partial=is_partial)

    def late(self) -> Listing | None:
        """Return the listing of the pages that arrived in time, or None if no page arrived."""
        if self.client is None or not self.found:
            return None
        return listing_of(self.client, self.found, [*self.problems, LATE])


LATE = (
    "the rest of the server's list did not arrive in time, and the tools in it are left out. The server is "
    "asked again in a minute."
)


def listing_of(
    client: Client,
    found: Mapping[str, types.Tool],
    problems: Sequence[str],
    *,
    is_partial: bool = False,
) -> Listing:
    tools = tuple(found.values())[:MOST_LISTED]
    digest = hashlib.sha256("\n".join(problems).encode())
    for tool in tools:
        digest.update(tool.model_dump_json().encode())
    return Listing(
        tools,
        client.instructions or "",
        digest.hexdigest(),
        client.server_capabilities.resources is not None,
        tuple(problems),
        server_name(client),
        is_partial,
    )


def server_name(client: Client) -> str:
    info = client.server_info
    return one_line(info.title or info.name, NAME_CHARACTERS) if info is not None else ""


async def read_tools(client: Client, found: dict[str, types.Tool], problems: list[str]) -> bool:
    """Add the tools by name to `found`, and sentences about omitted tools to `problems`.

    Return True if a page after the first failed. Raises the error of the first page, and errors
    that end the session.
    """
    read = 0
    try:
        async for page in pages(client.list_tools, problems):
            read += 1
            add_tools(found, page, problems)
            if len(found) > MOST_LISTED:
                problems.append(
                    f"the server lists more than {MOST_LISTED:,} tools; the rest is left out."
                )
                break
    except (MCPError, ValidationError) as error:
        if not read or is_closed(error):
            raise
        problems.append(
            f"page {read + 1} of the server's list could not be read, and the tools from there on "
            f"are left out: {sentence_of(error)[0]}"
        )
        return True
    return False


def add_tools(
    found: dict[str, types.Tool], page: types.ListToolsResult, problems: list[str]
) -> None:
    problems += left_out(page)
    for tool in page.tools:
        if needs_task(tool):
            problems.append(
                f"the tool {one_line(tool.name)!r} is left out: it can only be called as a task "
                "(execution.taskSupport is 'required'), which is not supported."
            )
        else:
            found.setdefault(tool.name, tool)


def needs_task(tool: types.Tool) -> bool:
    return tool.execution is not None and tool.execution.task_support == "required"


def left_out(page: P) -> list[str]:
    """Return sentences about entries that were omitted from a page."""
    return list((page.meta or {}).get(LEFT_OUT, ()))


async def read_resources(client: Client) -> tuple[types.Resource, ...]:
    """Return the server's resources for the prompt, up to `MOST_RESOURCES`."""
    found: list[types.Resource] = []
    if client.server_capabilities.resources is not None:
        async for page in pages(client.list_resources):
            found += page.resources
            if len(found) >= MOST_RESOURCES:
                break
    return tuple(found[:MOST_RESOURCES])


async def pages(
    ask: Callable[..., Awaitable[P]], problems: list[str] | None = None
) -> AsyncIterator[P]:
    """Yield the pages of a list. If a cursor repeats or there are too many pages, stop, and add the
    reason to `problems`.
    """
    cursor: str | None = None
    known: set[str] = set()
    problem = f"the server's list has more than {MOST_PAGES} pages; the rest is left out."
    for _ in range(MOST_PAGES):
        page = await ask(cursor=cursor)
        yield page
        cursor = page.next_cursor
        if cursor is None:
            return
        if cursor in known:
            problem = (
                f"the server's list repeats itself (nextCursor {one_line(cursor)!r} is repeated); "
                "only the tools before that are used."
            )
            break
        known.add(cursor)
    if problems is None:
        logger.warning("Stopped listing an MCP server's resources: %s", problem)
    else:
        problems.append(problem)
