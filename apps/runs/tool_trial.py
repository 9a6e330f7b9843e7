"""Toolsets as they are now and one tool called by itself, exactly as a run does both.

An operator sees what a run would: the names and schemas that the model is told, the issues, the
result that the model gets. Nothing is kept here; what a tool stores, it stores as in a run.
"""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from apps.accounts.caller import Caller
from apps.agent.calls import failed, read_arguments
from apps.agent.events import Emit, Event
from apps.agent.loop import UNEXPECTED
from apps.agent.messages import ToolCall
from apps.agent.stages import silent
from apps.agent.tools import Invocation, Tool, ToolResult
from apps.capabilities.discovery.capability import internal_tools, place_of
from apps.capabilities.registry import Opening
from apps.catalog.content.installed import installed
from apps.catalog.models import Application
from apps.catalog.resolve import ResolvedApplication, prepare_application
from apps.errors import InitializationIssue, InvalidParameter, Stopped, ToolError
from apps.runs.opening import Opened, open_capabilities
from apps.runs.run import delegated
from apps.runs.workspaces import open_workspace
from apps.workspace.loading.loader import Loading
from apps.workspace.loading.rules import rules_of

logger = logging.getLogger(__name__)

CALL_ID = "trial"
NO_TOOLSET = {"type": "internal", "name": "left out", "enabled": False, "tools": []}

Step = Literal["open", "arguments", "call", "result"]
"""Of a call, in their order; what comes before is reading and resolving the manifest."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What an open toolset offers; `others` are tools that any run of the application has.

    `withheld` are the names that the model is told of only after it has searched for them, and
    `hidden` those that it may not call.
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
    """How one call went. `failed` names the step that went wrong, None if none did.

    `error` is what the tool or the run says about that. `answer` is what the model gets, None when
    the run would end instead. `seconds` are of the call alone.
    """

    failed: Step | None = None
    error: str = ""
    answer: ToolResult | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    issues: tuple[InitializationIssue, ...] = ()
    seconds: float = 0.0


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
) -> AsyncIterator[Opened]:
    outside = open_workspace(caller)
    workspace = outside.inside(application.slug)
    loading = Loading(rules_of(application.manifest))
    delegate = partial(delegated, application, outside, caller)
    skills = application.skills
    opening = Opening(workspace, caller, emit, loading=loading, delegate=delegate, skills=skills)
    async with open_capabilities(application, opening) as found:
        yield found


async def offer(application: ResolvedApplication, caller: Caller, index: int | None) -> Offer:
    """Open the toolsets, and tell what is in them."""
    async with opened(application, caller, silent) as found:
        return read_offer(application, found, index)


def read_offer(application: ResolvedApplication, found: Opened, index: int | None) -> Offer:
    box = found.toolbox
    every = [*box.listed.values(), *box.unlisted.values(), *box.hidden.values()]
    own = [tool for tool in every if index is None or is_of(tool, application, index)]
    return Offer(
        tuple(own),
        tuple(tool for tool in every if tool.spec.name not in {one.spec.name for one in own}),
        found.contribution.issues,
        frozenset(box.unlisted),
        frozenset(box.hidden),
    )


def is_of(tool: Tool, application: ResolvedApplication, index: int) -> bool:
    """Internal tools are made by many capabilities, by name, so the manifest tells their place."""
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
            trial = Trial("open", error)
        else:
            asked = ToolCall(CALL_ID, name, arguments)
            trial = await call_tool(tool, asked, found, events.append)
        return replace(trial, events=tuple(events), issues=found.contribution.issues)


async def call_tool(tool: Tool, asked: ToolCall, found: Opened, emit: Emit) -> Trial:
    """As the agent loop does it, except that it says which step failed."""
    try:
        arguments = read_arguments(asked)
    except ToolError as error:
        return Trial("arguments", str(error), failed(error))
    started = time.monotonic()
    trial = await answer(tool, Invocation(asked.id, arguments, emit=emit))
    seconds = time.monotonic() - started
    trial = replace(trial, arguments=arguments, seconds=seconds)
    if trial.answer is None or trial.failed == "arguments":
        return trial
    return await finish(trial, trial.answer, asked, found)


async def answer(tool: Tool, invocation: Invocation) -> Trial:
    try:
        result = await tool.call(invocation)
    except InvalidParameter as error:
        return Trial("arguments", str(error), failed(error))
    except ToolError as error:
        return Trial("call", str(error), failed(error))
    except Stopped as error:
        return Trial("call", str(error.__cause__ or error))
    except Exception:
        logger.exception("Tool %r failed", tool.spec.name)
        return Trial("call", UNEXPECTED.content, UNEXPECTED)
    if result.failure is not None:
        return Trial("call", str(result.failure), result)
    return Trial(answer=result)


async def finish(trial: Trial, result: ToolResult, asked: ToolCall, found: Opened) -> Trial:
    """Pass the result through what the application does with every result."""
    try:
        for step in found.contribution.results:
            result = await step(asked, result)
    except ToolError as error:
        return replace(trial, failed="result", error=str(error), answer=failed(error))
    except Stopped as error:
        return replace(trial, failed="result", error=str(error), answer=None)
    except Exception:
        logger.exception("The result of tool %r could not be passed on", asked.name)
        return replace(trial, failed="result", error=UNEXPECTED.content, answer=UNEXPECTED)
    return replace(trial, answer=result)
