"""What a server offers: its tools, its resources, and what it says about their use."""

import hashlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import mcp_types as types
from mcp import Client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from apps.capabilities.mcp.connection_failures import is_closed, sentence_of
from apps.capabilities.mcp.result_bounds import LEFT_OUT, MOST_LISTED
from apps.capabilities.wrappers.texts import one_line

logger = logging.getLogger(__name__)

MOST_PAGES = 100
MOST_RESOURCES = 500
NAME_CHARACTERS = 60


P = TypeVar("P", types.ListToolsResult, types.ListResourcesResult)


@dataclass(frozen=True, slots=True)
class Listing:
    """`fingerprint` is the same for the same tools, whichever caller they were listed for.

    `problems` say what of the server's list is missing, and why; `is_partial` if a later page of it
    failed. `server_name` is what the server calls itself, "" if it does not.
    """

    tools: tuple[types.Tool, ...]
    instructions: str
    fingerprint: str
    has_resources: bool
    problems: tuple[str, ...] = ()
    server_name: str = ""
    is_partial: bool = False


async def read_listing(client: Client) -> Listing:
    capabilities = client.server_capabilities
    problems: list[str] = []
    tools: tuple[types.Tool, ...] = ()
    is_partial = False
    if capabilities.tools is not None:
        tools, is_partial = await read_tools(client, problems)
    else:
        logger.warning("An MCP server does not advertise tools; it is not asked for any.")
    digest = hashlib.sha256("\n".join(problems).encode())
    for tool in tools:
        digest.update(tool.model_dump_json().encode())
    return Listing(
        tools,
        client.instructions or "",
        digest.hexdigest(),
        capabilities.resources is not None,
        tuple(problems),
        server_name(client),
        is_partial,
    )


def server_name(client: Client) -> str:
    info = client.server_info
    return one_line(info.title or info.name, NAME_CHARACTERS) if info is not None else ""


async def read_tools(client: Client, problems: list[str]) -> tuple[tuple[types.Tool, ...], bool]:
    """Return the tools, each name once, and whether a later page than the first failed.

    What is missing of them is appended to the `problems`. Raises what the first page raises, and
    what ends the session.
    """
    found: dict[str, types.Tool] = {}
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
        return tuple(found.values()), True
    return tuple(found.values())[:MOST_LISTED], False


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
    """The reasons for entries that are not in a page."""
    return list((page.meta or {}).get(LEFT_OUT, ()))


async def read_resources(client: Client) -> tuple[types.Resource, ...]:
    """The first `MOST_RESOURCES`: they go into a prompt."""
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
    """The pages of a list, until a cursor comes again or there are too many."""
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
                f"the server's list repeats itself (nextCursor {one_line(cursor)!r} came again); "
                "only the tools before that are used."
            )
            break
        known.add(cursor)
    if problems is None:
        logger.warning("An MCP server was not asked for more resources: %s", problem)
    else:
        problems.append(problem)
