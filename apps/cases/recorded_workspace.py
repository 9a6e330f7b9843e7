"""Wraps a test case's workspace and capabilities, so that a player runs or replays all model and
tool calls.
"""

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
    PreparedCapabilities,
)
from apps.cases.player import Player
from apps.cases.recording import OfferedTool
from apps.errors import InitializationIssue
from apps.workspace.port import KeyUse, Workspace

OF_THE_PERSON = frozenset({"memory", "conversations", "notes", "schedules"})
"""These capabilities use a user's data. Test cases run without them."""
REMOTE = frozenset({"mcp", "dial_app"})
"""A server lists the tools of these capabilities. A replay uses the recorded list."""
IN_PROCESS = frozenset(
    {
        *("skills", "discovery", "todo", "summary", "representation", "contexts"),
        *("attachments", "attachment content"),
    }
)
"""The tools of these capabilities access nothing outside the process, so they are called as usual.
"""


@dataclass(frozen=True, slots=True)
class PlayedModel:
    name: str
    model: Model
    player: Player

    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        return self.player.stream(self.name, self.model, request)


class PlayedRun(PlayedModel, NestedRun):
    """An application that is called as a model, through a player. Only the calls inside its run are
    metered, not the call itself.
    """


class PlayedWorkspace:
    """A workspace whose models are called through a player. Everything else comes from the original
    workspace.
    """

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
        """Return the model, wrapped so that it is called through the player. Raises the same errors
        as the original workspace.
        """
        found = await self.workspace.model(
            deployment_id, headers=headers, idle_seconds=idle_seconds
        )
        is_run = isinstance(found, NestedRun) and self.player.mode != "replay"
        kind = PlayedRun if is_run else PlayedModel
        return kind(deployment_id, found, self.player)


def play_capabilities(prepared: PreparedCapabilities, player: Player) -> PreparedCapabilities:
    """Wrap the capabilities so that their tools are called through the player. Capabilities that
    use a user's data are omitted.
    """
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
    """Wrap the delegate, which runs sub-agents, so that the sub-agents' tools are also called
    through the player.
    """

    async def handed_on(delegation: Delegation, emit: Emit, ledger: Ledger) -> str | None:
        inside = replace(delegation, prepared=play_capabilities(delegation.prepared, player))
        return await delegate(inside, emit, ledger)

    return handed_on


@asynccontextmanager
async def open_recorded(name: str, player: Player, opening: Opening) -> AsyncIterator[Contribution]:
    """Yield the tools that a server listed when the test case was recorded. `name` is the name of
    the capability.
    """
    offered = player.recording.offers.get(name)
    if offered is None:
        issue = (
            f"{name}: the recording has no tools of servers, so the test case runs without them."
        )
        yield Contribution(issues=(InitializationIssue(issue),))
        return
    yield Contribution(tuple(offered_tool(one, player) for one in offered))


def offered_tool(offered: OfferedTool, player: Player) -> Tool:
    async def call(invocation: Invocation) -> ToolResult:
        raise AssertionError("replays do not call tools")

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
        player.new_recording.offers.setdefault(name, []).extend(offers)
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
    """Wrap the tool so that it is called through the player. The call is not announced, because the
    player may replay it.
    """
    return replace(tool, call=partial(player.call, tool), announcement=None)
