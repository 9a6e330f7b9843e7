"""The capabilities of an application, open for the length of one run.

What cannot be opened becomes an issue, what cannot be closed a line in the log: the run goes on.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from types import TracebackType

from apps.agent.tools import Toolbox
from apps.capabilities.registry import Contribution, Open, Opening
from apps.catalog.resolve import ResolvedApplication
from apps.errors import InitializationIssue

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Opened:
    """The contributions of all capabilities, joined in their order."""

    contribution: Contribution
    toolbox: Toolbox


@asynccontextmanager
async def open_capabilities(
    application: ResolvedApplication, opening: Opening
) -> AsyncIterator[Opened]:
    """Open every capability for the length of the block; what fails becomes an issue."""
    async with AsyncExitStack() as stack:
        opened: list[Contribution] = []
        issues = list(application.prepared.issues)
        for name, opener in application.prepared.openers:
            contribution = await open_one(stack, name, opener, opening, issues)
            if contribution is not None:
                opened.append(contribution)
        yield join(opened, issues)


async def open_one(
    stack: AsyncExitStack,
    name: str,
    opener: Open,
    opening: Opening,
    issues: list[InitializationIssue],
) -> Contribution | None:
    try:
        manager = opener(opening)
        contribution = await manager.__aenter__()
    except InitializationIssue as issue:
        issues.append(issue)
    except Exception:
        logger.exception("Capability %s could not be opened", name)
        issues.append(InitializationIssue(f"{name}: failed unexpectedly; see the server's log."))
    else:
        stack.push_async_exit(partial(close_one, name, manager))
        return contribution
    return None


async def close_one(
    name: str,
    manager: AbstractAsyncContextManager[Contribution],
    kind: type[BaseException] | None,
    error: BaseException | None,
    trace: TracebackType | None,
) -> bool:
    """Close a capability. How that goes changes nothing about how the run went."""
    try:
        await manager.__aexit__(kind, error, trace)
    except Exception as late:
        if late is not error:
            logger.exception("Capability %s could not be closed", name)
    return False


def join(contributions: Sequence[Contribution], issues: list[InitializationIssue]) -> Opened:
    tools = Toolbox()
    for contribution in contributions:
        issues += contribution.issues
        for tool in contribution.tools:
            if tool.spec.name in tools.listed:
                issues.append(
                    InitializationIssue(
                        f"Two tools are named '{tool.spec.name}'; only the first is used. "
                        "Rename one of them or its toolset."
                    )
                )
            else:
                tools.listed[tool.spec.name] = tool
        tools.hidden |= {tool.spec.name: tool for tool in contribution.hidden}
    for contribution in contributions:
        for arrange in contribution.arrange:
            issues += arrange(tools) or ()
    joined = Contribution(
        instructions=tuple(part for c in contributions for part in c.instructions),
        history=tuple(step for c in contributions for step in c.history),
        view=tuple(step for c in contributions for step in c.view),
        results=tuple(step for c in contributions for step in c.results),
        recoveries=tuple(recovery for c in contributions for recovery in c.recoveries),
        tidying=tuple(tidy for c in contributions for tidy in c.tidying),
        completions=tuple(completion for c in contributions for completion in c.completions),
        issues=tuple(issues),
    )
    return Opened(joined, tools)
