"""The workspace and the capabilities of a case: as in any run, but their models and tools go through
a player."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from msgspec import structs

from apps.agent.events import Emit
from apps.agent.ledger import Ledger
from apps.agent.model import Delta, Model, ModelRequest, NestedRun
from apps.agent.tools import Invocation, Tool, ToolResult
from apps.capabilities.registry import (
    Contribution,
    Delegate,
    Delegation,
    Open,
    Opening,
    Prepared,
)
from apps.cases.player import Player
from apps.cases.tape import OfferedTool
from apps.errors import InitializationIssue
from apps.workspace.port import KeyUse, Workspace

OF_THE_PERSON = frozenset({"memory", "conversations", "notes", "schedules"})
"""Capabilities about what a person has; a case has nobody's."""
REMOTE = frozenset({"mcp", "dial_app"})
"""Capabilities whose tools only a server knows; a replay has those of the recording."""
IN_PROCESS = frozenset(
    {
        *("skills", "discovery", "todo", "summary", "representation", "contexts"),
        *("attachments", "attachment contents"),
    }
)
"""Capabilities whose tools reach nothing outside, so they work as always."""


@dataclass(frozen=True, slots=True)
class PlayedModel:
    name: str
    model: Model
    player: Player

    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        return self.player.stream(self.name, self.model, request)


class PlayedRun(PlayedModel, NestedRun):
    """An application that plays the model: the calls inside of it are metered, not this one."""


class PlayedWorkspace:
    """The workspace of a case; all but its models is as it was."""

    def __init__(self, workspace: Workspace, player: Player) -> None:
        self.workspace = workspace
        self.player = player

    def __getattr__(self, name: str) -> Any:
        return getattr(self.workspace, name)

    def inside(self, application: str, keys: KeyUse = "platform") -> Any:
        return PlayedWorkspace(self.workspace.inside(application, keys), self.player)

    async def model(
        self,
        deployment_id: str,
        *,
        headers: Collection[str] | None = None,
        idle_seconds: float | None = None,
    ) -> Model:
        """Raises as the workspace."""
        found = await self.workspace.model(
            deployment_id, headers=headers, idle_seconds=idle_seconds
        )
        is_run = isinstance(found, NestedRun) and self.player.mode != "replay"
        kind = PlayedRun if is_run else PlayedModel
        return kind(deployment_id, found, self.player)


def played(prepared: Prepared, player: Player) -> Prepared:
    """The capabilities with tools that go through the player, without those of a person."""
    openers = [
        (name, played_opener(name, opener, player))
        for name, opener in prepared.openers
        if name not in OF_THE_PERSON
    ]
    return replace(prepared, openers=tuple(openers))


def played_opener(name: str, opener: Open, player: Player) -> Open:
    if name in REMOTE and player.mode == "replay":
        return partial(open_recorded, name, player)

    @asynccontextmanager
    async def opened(opening: Opening) -> AsyncIterator[Contribution]:
        delegate = played_delegate(opening.delegate, player)
        async with opener(structs.replace(opening, delegate=delegate)) as contribution:
            if name in IN_PROCESS:
                yield contribution
            else:
                yield played_contribution(name, contribution, player)

    return opened


def played_delegate(delegate: Delegate, player: Player) -> Delegate:
    """Helpers have tools of their own, which go through the player, too."""

    async def handed_on(delegation: Delegation, emit: Emit, ledger: Ledger) -> str | None:
        inside = replace(delegation, prepared=played(delegation.prepared, player))
        return await delegate(inside, emit, ledger)

    return handed_on


@asynccontextmanager
async def open_recorded(name: str, player: Player, opening: Opening) -> AsyncIterator[Contribution]:
    """The tools that a server had when the case was recorded."""
    offered = player.tape.offers.get(name)
    if offered is None:
        issue = f"{name}: no tools of servers are in the recording, so the case has none of them."
        yield Contribution(issues=(InitializationIssue(issue),))
        return
    yield Contribution(tuple(offered_tool(one, player) for one in offered))


def offered_tool(offered: OfferedTool, player: Player) -> Tool:
    async def call(invocation: Invocation) -> ToolResult:
        raise AssertionError("a replay calls no tool")

    tool = Tool(
        offered.spec,
        call,
        offered.toolset,
        is_private=offered.is_private,
        is_read_only=offered.is_read_only,
    )
    return played_tool(tool, player)


def played_contribution(name: str, contribution: Contribution, player: Player) -> Contribution:
    if name in REMOTE:
        offers = [OfferedTool.of(tool) for tool in contribution.tools]
        player.recorded.offers.setdefault(name, []).extend(offers)
    changed = structs.replace(
        contribution,
        tools=tuple(played_tool(tool, player) for tool in contribution.tools),
        hidden=tuple(played_tool(tool, player) for tool in contribution.hidden),
    )
    settle = contribution.settle
    if settle is None:
        return changed

    async def settled() -> Contribution:
        return played_contribution(name, await settle(), player)

    return structs.replace(changed, settle=settled)


def played_tool(tool: Tool, player: Player) -> Tool:
    """The tool without the stage that opens before a call, which may not be made."""
    return replace(tool, call=partial(player.call, tool), announcement=None)
