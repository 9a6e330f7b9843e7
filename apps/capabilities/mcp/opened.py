"""Toolsets in one run: what their servers offer, or why they do not."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from apps.agent.tools import Tool
from apps.capabilities.mcp.failures import ConnectionFailed
from apps.capabilities.mcp.lines import Line, find_line, reached
from apps.capabilities.mcp.listings import Listing, read_listing
from apps.capabilities.mcp.pool import Leases
from apps.capabilities.mcp.resources import (
    EagerText,
    Shelf,
    cards,
    open_shelf,
    read_eager,
    reading_tool,
)
from apps.capabilities.mcp.sign_ins import told
from apps.capabilities.mcp.synthetic import injection
from apps.capabilities.mcp.tools import PreparedTools, prepare_tools
from apps.capabilities.mcp.toolsets import Toolset
from apps.capabilities.registry import Contribution, Opening
from apps.capabilities.wrappers.texts import shortened
from apps.errors import DeploymentNotFound, InitializationIssue, QuickAppError, ServiceFailed
from apps.workspace.egress.urls import AddressInvalid
from apps.workspace.port import SignIn

logger = logging.getLogger(__name__)

INSTRUCTIONS_CHARACTERS = 10_000
MOST_PREPARED = 8
"""Different lists of one toolset that are kept prepared: a server may show callers different ones."""


@dataclass(slots=True)
class OpenedToolset:
    """`line` is there when the server was found; `refusal` tells that it wants a sign-in."""

    line: Line | None = None
    tools: PreparedTools = field(default_factory=PreparedTools)
    instructions: str = ""
    shelf: Shelf | None = None
    eager: list[EagerText] = field(default_factory=list)
    issues: list[InitializationIssue] = field(default_factory=list)
    refusal: ConnectionFailed | None = None


class PreparableToolset:
    """A toolset, and its tools as they were last prepared."""

    def __init__(self, toolset: Toolset) -> None:
        self.toolset = toolset
        self.prepared: OrderedDict[tuple[str, str], PreparedTools] = OrderedDict()

    async def open(self, opening: Opening, leases: Leases) -> OpenedToolset:
        """Never raises for what a server does: that becomes an issue."""
        opened = OpenedToolset()
        label = self.toolset.label
        try:
            await self.fill(opened, opening, leases)
        except ConnectionFailed as failure:
            opened.refusal = failure if failure.needs_sign_in else None
            opened.issues.append(failure.issue(label))
        except (QuickAppError, AddressInvalid) as error:
            opened.issues.append(InitializationIssue(unreached(self.toolset, error)))
        except Exception:
            logger.exception("Toolset %s could not be opened", self.toolset.path)
            opened.issues.append(
                InitializationIssue(f"Toolset {label}: failed unexpectedly; see the server's log.")
            )
        return opened

    async def open_again(
        self, refused: OpenedToolset, outcome: SignIn, opening: Opening, leases: Leases
    ) -> OpenedToolset:
        """Once more after its server wanted a sign-in and the person was asked for it."""
        refusal = refused.refusal
        if outcome == "success":
            if refused.line is not None:
                refused.line.contact.forgive()
            opened = await self.open(opening, leases)
            if opened.refusal is None:
                return opened
            refusal = opened.refusal
        details = refusal.details if refusal is not None else ""
        text = told(outcome, self.toolset.label)
        return OpenedToolset(issues=[InitializationIssue(text, details=details)])

    async def fill(self, opened: OpenedToolset, opening: Opening, leases: Leases) -> None:
        opened.line = line = await find_line(self.toolset, opening)
        contact = leases.take(line.endpoint, line.bucket, alone=line.is_private)
        listing = await contact.known("listing", line.errand(), read_listing)
        opened.tools = await self.tools(line.toolset, listing)
        if line.toolset.tells_instructions and listing.instructions.strip():
            opened.instructions = introduced(line.toolset.label, listing.instructions)
        if listing.has_resources:
            opened.shelf = await open_shelf(line)
        if opened.shelf is not None:
            opened.eager, opened.issues = await read_eager(opened.shelf)

    async def tools(self, toolset: Toolset, listing: Listing) -> PreparedTools:
        key = (repr(toolset.name), listing.fingerprint)
        if key not in self.prepared:
            # Checking many schemas takes seconds, in which everybody else would stand still.
            found = await asyncio.to_thread(prepare_tools, toolset, listing)
            self.prepared[key] = found
            if len(self.prepared) > MOST_PREPARED:
                self.prepared.popitem(last=False)
        self.prepared.move_to_end(key)
        return self.prepared[key]


async def open_all(
    toolsets: Sequence[PreparableToolset], opening: Opening, leases: Leases
) -> list[OpenedToolset]:
    """All at once, in their order; the person is asked at most once to sign in, to all of them."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one.open(opening, leases)) for one in toolsets]
    opened = [task.result() for task in tasks]
    refused = {
        index: toolset.toolset.kept_as
        for index, toolset in enumerate(toolsets)
        if toolset.toolset.kept_as and opened[index].refusal is not None
    }
    if not refused:
        return opened
    ids = list(dict.fromkeys(refused.values()))
    outcomes = await opening.workspace.sign_in(ids)
    async with asyncio.TaskGroup() as group:
        for index, id in refused.items():
            outcome = outcomes.get(id, "error")
            again = toolsets[index].open_again(opened[index], outcome, opening, leases)
            tasks[index] = group.create_task(again)
    return [task.result() for task in tasks]


def unreached(toolset: Toolset, error: QuickAppError | AddressInvalid) -> str:
    """Why the workspace could not say where the server is."""
    status = error.status if isinstance(error, ServiceFailed) else None
    named = f"required toolset ({toolset.kept_as})"
    if isinstance(error, DeploymentNotFound) or status == HTTPStatus.NOT_FOUND:
        return f"A {named} could not be found. Please contact your administrator."
    if status == HTTPStatus.FORBIDDEN:
        return f"Access to a {named} is forbidden. Please contact your administrator."
    return f"Toolset {toolset.label}: {error}"


def introduced(label: str, instructions: str) -> str:
    text = shortened(instructions.strip(), INSTRUCTIONS_CHARACTERS)
    return f"What the server of the toolset {label} says about its use:\n\n{text}"


def joined(
    toolsets: Iterable[OpenedToolset], issues: Iterable[InitializationIssue], opening: Opening
) -> Contribution:
    """All toolsets as one contribution, in their order."""
    opened = list(toolsets)
    shelves = [toolset.shelf for toolset in opened if toolset.shelf is not None]
    eager = [text for toolset in opened for text in toolset.eager]
    tools: list[Tool] = []
    hidden: list[Tool] = []
    for toolset in opened:
        if toolset.line is not None:
            ours = reached(opening, toolset.line)
            tools += (tool.bind(ours) for tool in toolset.tools.tools)
            hidden += (tool.bind(ours) for tool in toolset.tools.hidden)
    if shelves:
        tools.append(reading_tool(shelves).bind(opening))
    instructions = [toolset.instructions for toolset in opened]
    found = [issue for toolset in opened for issue in (*toolset.tools.issues, *toolset.issues)]
    return Contribution(
        tools=tuple(tools),
        hidden=tuple(hidden),
        instructions=tuple(filter(None, [*instructions, cards(shelves)])),
        history=(injection(eager),) if eager else (),
        issues=(*issues, *found),
    )
