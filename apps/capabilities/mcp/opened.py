"""A toolset in one run: what its server offers, or why it does not."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from apps.capabilities.mcp.contacts import Contact
from apps.capabilities.mcp.endpoints import Endpoint, find_endpoint
from apps.capabilities.mcp.failures import ConnectionFailed
from apps.capabilities.mcp.listings import Listing, read_listing
from apps.capabilities.mcp.pool import current_pool
from apps.capabilities.mcp.resources import (
    EagerText,
    Shelf,
    cards,
    open_shelf,
    read_eager,
    reading_tool,
)
from apps.capabilities.mcp.synthetic import injection
from apps.capabilities.mcp.tools import PreparedTools, prepare_tools
from apps.capabilities.mcp.toolsets import Toolset, bucket_of
from apps.capabilities.registry import Contribution, Opening
from apps.capabilities.wrappers.texts import shortened
from apps.errors import InitializationIssue, Unsupported

logger = logging.getLogger(__name__)

INSTRUCTIONS_CHARACTERS = 10_000
MOST_PREPARED = 8
"""Different lists of one toolset that are kept prepared: a server may show callers different ones."""


@dataclass(slots=True)
class OpenedToolset:
    tools: PreparedTools = field(default_factory=PreparedTools)
    instructions: str = ""
    shelf: Shelf | None = None
    eager: list[EagerText] = field(default_factory=list)
    issues: list[InitializationIssue] = field(default_factory=list)


class PreparableToolset:
    """A toolset, and its tools as they were last prepared."""

    def __init__(self, toolset: Toolset) -> None:
        self.toolset = toolset
        self.prepared: OrderedDict[tuple[Endpoint, str], PreparedTools] = OrderedDict()

    async def open(self, opening: Opening, stack: AsyncExitStack) -> OpenedToolset:
        """Never raises for what a server does: that becomes an issue."""
        opened = OpenedToolset()
        label = self.toolset.label
        try:
            await self.fill(opened, opening, stack)
        except ConnectionFailed as failure:
            opened.issues.append(failure.issue(label))
        except Unsupported as error:
            opened.issues.append(InitializationIssue(f"Toolset {label}: {error}"))
        except Exception:
            logger.exception("Toolset %s could not be opened", self.toolset.path)
            opened.issues.append(
                InitializationIssue(f"Toolset {label}: failed unexpectedly; see the server's log.")
            )
        return opened

    async def fill(self, opened: OpenedToolset, opening: Opening, stack: AsyncExitStack) -> None:
        toolset = self.toolset
        endpoint = await find_endpoint(toolset.node.mcp_server_info)
        contact: Contact = await stack.enter_async_context(
            current_pool().lease(endpoint, bucket_of(opening), alone=not opening.caller.bucket)
        )
        errand = toolset.errand(opening.caller)
        listing = await contact.known("listing", errand, read_listing)
        opened.tools = await self.tools(endpoint, listing)
        if toolset.node.server_instructions and listing.instructions.strip():
            opened.instructions = told(toolset.label, listing.instructions)
        if listing.has_resources:
            opened.shelf = await open_shelf(toolset, endpoint, contact, errand)
        if opened.shelf is not None:
            opened.eager, opened.issues = await read_eager(opened.shelf, contact, errand)

    async def tools(self, endpoint: Endpoint, listing: Listing) -> PreparedTools:
        key = (endpoint, listing.fingerprint)
        if key not in self.prepared:
            # Checking many schemas takes seconds, in which everybody else would stand still.
            found = await asyncio.to_thread(prepare_tools, self.toolset, endpoint, listing)
            self.prepared[key] = found
            if len(self.prepared) > MOST_PREPARED:
                self.prepared.popitem(last=False)
        self.prepared.move_to_end(key)
        return self.prepared[key]


def told(label: str, instructions: str) -> str:
    text = shortened(instructions.strip(), INSTRUCTIONS_CHARACTERS)
    return f"What the server of the toolset {label} says about its use:\n\n{text}"


def joined(
    toolsets: Iterable[OpenedToolset], issues: Iterable[InitializationIssue], opening: Opening
) -> Contribution:
    """All toolsets as one contribution, in their order."""
    opened = list(toolsets)
    shelves = [toolset.shelf for toolset in opened if toolset.shelf is not None]
    eager = [text for toolset in opened for text in toolset.eager]
    tools = [tool for toolset in opened for tool in toolset.tools.tools]
    if shelves:
        tools.append(reading_tool(shelves))
    instructions = [toolset.instructions for toolset in opened]
    found = [issue for toolset in opened for issue in (*toolset.tools.issues, *toolset.issues)]
    return Contribution(
        tools=tuple(tool.bind(opening) for tool in tools),
        instructions=tuple(filter(None, [*instructions, cards(shelves)])),
        history=(injection(eager),) if eager else (),
        issues=(*issues, *found),
    )
