"""The capabilities of an application, open for the length of one run.

What cannot be opened becomes an issue, what cannot be closed a line in the log: the run goes on.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass

from apps.agent.tools import Toolbox
from apps.capabilities.registry import Contribution, Open, Opening
from apps.catalog.resolve import ResolvedApplication
from apps.errors import InitializationIssue
from apps.manifest.manifest import Manifest
from apps.runs.issues import naming_toolset

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Opened:
    """The contributions of all capabilities, joined in their order."""

    contribution: Contribution
    toolbox: Toolbox


Closing = tuple[str, AbstractAsyncContextManager[Contribution]]
"""The name of an open capability, and what closes it."""


@asynccontextmanager
async def open_capabilities(
    application: ResolvedApplication, opening: Opening
) -> AsyncIterator[Opened]:
    """Open every capability for the length of the block; what fails becomes an issue."""
    opened: list[tuple[str, Contribution]] = []
    closing: list[Closing] = []
    try:
        issues = list(application.prepared.issues)
        for name, opener in application.prepared.openers:
            work = open_one(closing, name, opener, opening)
            opened.append((name, await attempt(name, work, issues)))
        settled = [
            one if one.settle is None else await attempt(name, one.settle(), issues)
            for name, one in opened
        ]
        yield join(settled, issues, application.manifest)
    except BaseException as error:
        await close_all(closing, error)
        raise
    await close_all(closing, None)


async def open_one(
    closing: list[Closing], name: str, opener: Open, opening: Opening
) -> Contribution:
    manager = opener(opening)
    contribution = await manager.__aenter__()
    if not isinstance(manager, nullcontext):  # most have nothing to close
        closing.append((name, manager))
    return contribution


async def attempt(
    name: str, work: Awaitable[Contribution], issues: list[InitializationIssue]
) -> Contribution:
    """What a capability brings; nothing and an issue if it fails."""
    try:
        return await work
    except InitializationIssue as issue:
        issues.append(issue)
    except Exception:
        logger.exception("Capability %s could not be opened", name)
        issues.append(InitializationIssue(f"{name}: failed unexpectedly; see the server's log."))
    return Contribution()


async def close_all(closing: list[Closing], error: BaseException | None) -> None:
    """Close the capabilities, the last one first, also when the closing is interrupted.

    How that goes changes nothing about how the run went. `error` is what ended it.
    """
    raised = (None, None, None) if error is None else (type(error), error, error.__traceback__)
    while closing:
        name, manager = closing.pop()
        try:
            await manager.__aexit__(*raised)
        except Exception as late:
            if late is not error:
                logger.exception("Capability %s could not be closed", name)
        except BaseException as interruption:
            if interruption is error:
                continue
            await close_all(closing, interruption)
            raise


def join(
    contributions: Sequence[Contribution], issues: list[InitializationIssue], manifest: Manifest
) -> Opened:
    tools = Toolbox()
    for contribution in contributions:
        issues += contribution.issues
        for tool in contribution.tools:
            if tool.spec.name in tools.listed:
                place = f"{tool.toolset}: " if tool.toolset else ""
                issues.append(
                    InitializationIssue(
                        f"{place}Two tools are named '{tool.spec.name}'; only the first is used. "
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
        issues=tuple(naming_toolset(issue, manifest) for issue in issues),
    )
    return Opened(joined, tools)
