"""Opens toolsets and calls a tool without a run, so that operators can try them.

Operators see the names and schemas that the model gets, the issues and the result. QuickApps stores
nothing, but the tool itself can store data.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from apps.accounts.caller import Caller
from apps.agent.calls import ToolOutcome, call_tool
from apps.agent.events import Emit, Event
from apps.agent.messages import ToolCall
from apps.agent.progress import Progress
from apps.agent.stages import silent
from apps.agent.taint import Taint
from apps.agent.tools import Invocation, Tool, ToolResult
from apps.capabilities.discovery.capability import internal_tools, node_path
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.approval import APPROVED
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import InitializationIssue
from apps.runs.capabilities import OpenCapabilities, open_capabilities
from apps.runs.run import run_delegation
from apps.runs.workspaces import open_workspace
from apps.workspace.loading.shared_loads import Loading, rules_of

CALL_ID = "trial"
NO_TOOLSET = {"type": "internal", "name": "left out", "enabled": False, "tools": []}


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """The tools of the opened toolsets."""

    tools: tuple[Tool, ...]
    others: tuple[Tool, ...]
    """Tools that every run of the application has."""
    issues: tuple[InitializationIssue, ...]
    withheld: frozenset[str] = frozenset()
    """The names of tools that the model gets only after a search."""
    hidden: frozenset[str] = frozenset()
    """The names of tools that the model cannot call."""

    def find(self, name: str) -> Tool | None:
        return next((t for t in (*self.tools, *self.others) if t.spec.name == name), None)


@dataclass(frozen=True, slots=True)
class ToolTrial:
    """The result of a tool call, and the events that the call emitted."""

    outcome: ToolOutcome
    events: tuple[Event, ...] = ()


def only_toolset(document: Any, index: int) -> Any:
    """Return the manifest with all toolsets disabled except the one at `index`. Raises
    `LookupError` if no toolset has this index.
    """
    toolsets = document.get("tool_sets") or ()
    if not 0 <= index < len(toolsets):
        raise LookupError(index)
    toolsets_left = [one if i == index else NO_TOOLSET for i, one in enumerate(toolsets)]
    return {**document, "tool_sets": toolsets_left}


@asynccontextmanager
async def open_for_trial(
    application: ResolvedApplication, caller: Caller, emit: Emit, demanded: str = ""
) -> AsyncIterator[OpenCapabilities]:
    outside = open_workspace(caller)
    workspace = outside.inside(application.slug)
    loading = Loading(rules_of(application.manifest))
    delegate = partial(run_delegation, application, outside, caller, Taint(), Progress())
    opening = Opening(
        workspace,
        caller,
        emit,
        loading=loading,
        delegate=delegate,
        predefined=application.predefined,
        demanded=demanded,
    )
    async with open_capabilities(application, opening) as found:
        yield found


async def offer(
    application: ResolvedApplication, caller: Caller, index: int | None
) -> OfferedTools:
    """Open the toolset at `index`, or all toolsets if `index` is None, and return their tools."""
    async with open_for_trial(application, caller, silent) as found:
        box = found.toolbox
        every = [*box.listed.values(), *box.unlisted.values(), *box.hidden.values()]
        own = [tool for tool in every if is_of(tool, application, index)]
        names = {tool.spec.name for tool in own}
        return OfferedTools(
            tuple(own),
            tuple(tool for tool in every if tool.spec.name not in names),
            found.contribution.issues,
            frozenset(box.unlisted),
            frozenset(box.hidden),
        )


def is_of(tool: Tool, application: ResolvedApplication, index: int | None) -> bool:
    # Many capabilities provide internal tools, so these are searched by name in the manifest.
    place = tool.toolset or internal_tools(application.manifest).get(tool.spec.name)
    return place == node_path(index) if index is not None else bool(place)


async def try_tool(
    application: ResolvedApplication, caller: Caller, name: str, arguments: str
) -> ToolTrial:
    """Call the tool `name`. `arguments` is the text of a JSON object, as models write it."""
    events: list[Event] = []
    async with open_for_trial(application, caller, events.append, demanded=name) as found:
        box = found.toolbox
        tool = {**box.hidden, **box.unlisted, **box.listed}.get(name)
        if tool is None:
            error = f"The tool {name!r} no longer exists, or it could not be opened."
            outcome = ToolOutcome(ToolResult(error), "open", error)
        else:
            asked = ToolCall(CALL_ID, name, arguments)
            invocation = Invocation(asked.id, emit=events.append, answers=APPROVED)
            outcome = await call_tool(tool, asked, invocation, found.contribution.results)
        return ToolTrial(outcome, tuple(events))
