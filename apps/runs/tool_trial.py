"""Toolsets opened, and one tool called, as in a run but without one.

An operator sees the names and schemas for the model, the issues, and the result for the model.
Nothing is kept here, but a tool stores as it does in a run.
"""

import copy
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from apps.accounts.caller import Caller
from apps.agent.calls import ToolOutcome, call_tool
from apps.agent.events import Emit, Event
from apps.agent.messages import ToolCall
from apps.agent.progress import Progress
from apps.agent.stages import silent
from apps.agent.taint import Taint
from apps.agent.tools import Invocation, Tool, ToolResult
from apps.capabilities.discovery.capability import internal_tools, place_of
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.approval import APPROVED
from apps.catalog.content.installed import installed
from apps.catalog.models import Application
from apps.catalog.resolved_application import ResolvedApplication, prepare_application
from apps.errors import InitializationIssue
from apps.runs.capabilities import OpenCapabilities, open_capabilities
from apps.runs.run import delegated
from apps.runs.workspaces import open_workspace
from apps.workspace.loading.shared_loads import Loading, rules_of

CALL_ID = "trial"
NO_TOOLSET = {"type": "internal", "name": "left out", "enabled": False, "tools": []}


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools of an open toolset; `others` are tools that any run of the application has.

    `withheld` are names that the model sees only after a search, and `hidden` those that it may not
    call.
    """

    tools: tuple[Tool, ...]
    others: tuple[Tool, ...]
    issues: tuple[InitializationIssue, ...]
    withheld: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()

    def find(self, name: str) -> Tool | None:
        return next((t for t in (*self.tools, *self.others) if t.spec.name == name), None)


@dataclass(frozen=True, slots=True)
class Trial:
    """One call, the events that it emitted, and the issues of the toolsets."""

    outcome: ToolOutcome
    events: tuple[Event, ...] = ()
    issues: tuple[InitializationIssue, ...] = ()


def resolve_saved(application: Application, index: int | None = None) -> ResolvedApplication:
    """The application as it is saved, enabled or not, with all its toolsets or only one of them.

    Places in the manifest keep their numbers. Raises `ApplicationBroken`, as any run of it would,
    and LookupError when there is no toolset of that index.
    """
    whole = prepare_application(application, installed())
    if index is None:
        return whole
    toolsets = application.manifest["tool_sets"]
    if not 0 <= index < len(toolsets):
        raise LookupError(index)
    alone = copy.copy(application)
    kept = [one if i == index else NO_TOOLSET for i, one in enumerate(toolsets)]
    alone.manifest = {**application.manifest, "tool_sets": kept}
    return prepare_application(alone, installed())


@asynccontextmanager
async def opened(
    application: ResolvedApplication, caller: Caller, emit: Emit
) -> AsyncIterator[OpenCapabilities]:
    outside = open_workspace(caller)
    workspace = outside.inside(application.slug)
    loading = Loading(rules_of(application.manifest))
    delegate = partial(delegated, application, outside, caller, Taint(), Progress())
    skills = application.skills
    opening = Opening(
        workspace,
        caller,
        emit,
        loading=loading,
        delegate=delegate,
        skills=skills,
        agents=application.agents,
    )
    async with open_capabilities(application, opening) as found:
        yield found


async def offer(application: ResolvedApplication, caller: Caller, index: int | None) -> Offer:
    """Open the toolsets and list their tools."""
    async with opened(application, caller, silent) as found:
        box = found.toolbox
        every = [*box.listed.values(), *box.unlisted.values(), *box.hidden.values()]
        own = [tool for tool in every if index is None or is_of(tool, application, index)]
        names = {tool.spec.name for tool in own}
        return Offer(
            tuple(own),
            tuple(tool for tool in every if tool.spec.name not in names),
            found.contribution.issues,
            frozenset(box.unlisted),
            frozenset(box.hidden),
        )


def is_of(tool: Tool, application: ResolvedApplication, index: int) -> bool:
    # Many capabilities make internal tools, so their place is looked up in the manifest by name.
    place = tool.toolset or internal_tools(application.manifest).get(tool.spec.name)
    return place == place_of(index)


async def call(
    application: ResolvedApplication, caller: Caller, name: str, arguments: str
) -> Trial:
    """Call one tool with the arguments as a model writes them: the text of a JSON object."""
    events: list[Event] = []
    async with opened(application, caller, events.append) as found:
        box = found.toolbox
        tool = {**box.hidden, **box.unlisted, **box.listed}.get(name)
        if tool is None:
            error = f"The application has no tool {name!r} any more, or it could not be opened."
            outcome = ToolOutcome(ToolResult(error), "open", error)
        else:
            asked = ToolCall(CALL_ID, name, arguments)
            invocation = Invocation(asked.id, emit=events.append, answers=APPROVED)
            outcome = await call_tool(tool, asked, invocation, found.contribution.results)
        return Trial(outcome, tuple(events), found.contribution.issues)
