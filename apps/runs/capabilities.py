"""Opens an application's capabilities for a run, and closes them at the end of the run.

If a capability cannot be opened, a stage shows the issue. If it cannot be closed, the error is
logged.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from itertools import chain, groupby
from operator import attrgetter
from typing import Any

import msgspec

from apps.agent.events import Emit, StageClosed, StageDelta, StageOpened
from apps.agent.tools import Toolbox
from apps.capabilities.discovery.capability import internal_tools
from apps.capabilities.registry import Contribution, Open, Opening
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import InitializationIssue
from apps.manifest.manifest import Manifest
from apps.manifest.markdown.chat_place import ChatPlace
from apps.manifest.names import sanitize

logger = logging.getLogger(__name__)

ISSUES_STAGE = "initialization-issues"
_toolset_path = re.compile(r"tool_sets\[(\d{1,9})\]")


class OpenCapabilities(msgspec.Struct, frozen=True):
    """The combined contributions of all open capabilities."""

    contribution: Contribution
    toolbox: Toolbox
    instructions: tuple[tuple[str, str], ...] = ()
    """Texts for the prompt, each with the name of its capability."""


STEPS: dict[str, attrgetter[Any]] = {
    name: attrgetter(name)
    for name in (
        *("history", "view", "results"),
        *("recoveries", "tidying", "completions"),
    )
}
"""The list fields of contributions. The lists from all capabilities are concatenated in the order
of the capabilities.
"""

Manager = tuple[str, AbstractAsyncContextManager[Contribution]]
"""The name of an open capability, and its context manager."""


def open_capabilities(
    application: ResolvedApplication, opening: Opening, place: ChatPlace | None = None
) -> AbstractAsyncContextManager[OpenCapabilities]:
    """Return a context manager that opens the capabilities and yields their contributions. With a
    `place`, the model gets only the tools that the place lists.
    """
    return CapabilityBlock(application, opening, place)


class CapabilityBlock:
    # Not a generator, because each waiting stream would have one.
    __slots__ = ("application", "closing", "opening", "place")

    def __init__(
        self, application: ResolvedApplication, opening: Opening, place: ChatPlace | None
    ) -> None:
        self.application, self.opening, self.place = application, opening, place
        self.closing: list[Manager] = []

    async def __aenter__(self) -> OpenCapabilities:
        try:
            return await self.open()
        except BaseException as error:
            await close_all(self.closing, error)
            raise

    async def open(self) -> OpenCapabilities:
        prepared = self.application.prepared
        opened: list[tuple[str, Contribution]] = []
        issues = list(prepared.issues)
        for name, opener in prepared.openers:
            work = open_one(self.closing, name, opener, self.opening)
            opened.append((name, await attempt(name, work, issues)))
        settled = [
            one if one.settle is None else await attempt(name, one.settle(), issues)
            for name, one in opened
        ]
        names = [name for name, _ in opened]
        return join(names, settled, issues, self.application.manifest, self.place)

    async def __aexit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        await close_all(self.closing, error)


async def open_one(
    closing: list[Manager], name: str, opener: Open, opening: Opening
) -> Contribution:
    manager = opener(opening)
    if isinstance(manager, nullcontext):  # Most capabilities have nothing to close.
        at_once: Contribution = manager.enter_result
        return at_once
    contribution = await manager.__aenter__()
    closing.append((name, manager))
    return contribution


async def attempt(
    name: str, work: Awaitable[Contribution], issues: list[InitializationIssue]
) -> Contribution:
    """Return the contribution of the capability `name`, which `work` opens. If `work` fails, append
    an issue and return an empty contribution.
    """
    try:
        return await work
    except InitializationIssue as issue:
        issues.append(issue)
    except Exception:
        logger.exception("Failed to open the capability %s", name)
        issues.append(InitializationIssue(f"{name}: failed unexpectedly; see the server's log."))
    return Contribution()


async def close_all(closing: list[Manager], error: BaseException | None) -> None:
    """Close the capabilities in reverse order, even if the task is canceled. `error` is the
    exception that ended the run, or None. Errors during closing are logged.
    """
    raised = (None, None, None) if error is None else (type(error), error, error.__traceback__)
    while closing:
        name, manager = closing.pop()
        try:
            await manager.__aexit__(*raised)
        except Exception as late:
            if late is not error:
                logger.exception("Failed to close the capability %s", name)
        except BaseException as interruption:
            if interruption is error:
                continue
            await close_all(closing, interruption)
            raise


def join(
    names: Sequence[str],
    contributions: Sequence[Contribution],
    issues: list[InitializationIssue],
    manifest: Manifest,
    place: ChatPlace | None,
) -> OpenCapabilities:
    tools = Toolbox()
    for contribution in contributions:
        issues += contribution.issues
        for tool in contribution.tools:
            if tool.spec.name in tools.listed:
                where = f"{tool.toolset}: " if tool.toolset else ""
                issues.append(
                    InitializationIssue(
                        f"{where}Two tools are named '{tool.spec.name}'; only the first is "
                        "used. Rename one of them or its toolset."
                    )
                )
            else:
                tools.listed[tool.spec.name] = tool
        tools.hidden |= {tool.spec.name: tool for tool in contribution.hidden}
    if place is not None:
        narrow(tools, place, manifest)
    for contribution in contributions:
        for arrange in contribution.arrange:
            issues += arrange(tools) or ()
    steps: dict[str, Any] = {
        name: tuple(chain.from_iterable(map(of, contributions))) for name, of in STEPS.items()
    }
    named = tuple([naming_toolset(issue, manifest) for issue in issues])
    instructions: list[tuple[str, str]] = []
    for name, one in zip(names, contributions, strict=True):
        texts = (*one.instructions, *[compose(tools) for compose in one.composed])
        instructions += [(name, text) for text in texts if text]
    return OpenCapabilities(Contribution(issues=named, **steps), tools, tuple(instructions))


def narrow(tools: Toolbox, place: ChatPlace, manifest: Manifest) -> None:
    """Hide the tools of the manifest's toolsets, except the tools that the place lists by name or
    toolset. Tools of other capabilities, such as memory and skills, remain. Hooks can still call
    hidden tools.
    """
    if place.tools is None:
        return
    internal = internal_tools(manifest)
    names = tools.names
    for name, tool in list(tools.listed.items()):
        at = _toolset_path.match(tool.toolset or internal.get(name, ""))
        if at is None or name in place.tools or tool.full_name in place.tools:
            continue
        plain = sanitize(tool.full_name)
        if tool.full_name and plain in place.tools and plain not in names:
            continue
        if manifest.tool_sets[int(at[1])].label not in place.tools:
            tools.hidden[name] = tools.listed.pop(name)


def show_issues(issues: Sequence[InitializationIssue], emit: Emit) -> None:
    """Show the issues in one stage, grouped by section. The stage is marked as failed if `is_hard`
    is True for one of the issues.
    """
    if not issues:
        return
    emit(StageOpened(ISSUES_STAGE, "Initialization issues"))
    emit(StageDelta(ISSUES_STAGE, issues_text(issues)))
    emit(StageClosed(ISSUES_STAGE, 0.0, failed=any(issue.is_hard for issue in issues)))


def issues_text(issues: Sequence[InitializationIssue]) -> str:
    section = attrgetter("section")
    blocks = [
        f"#### {name}\n\n" + "\n".join(map(issue_text, group))
        for name, group in groupby(sorted(issues, key=section), section)
    ]
    return "\n\n".join(blocks) + "\n"


def issue_text(issue: InitializationIssue) -> str:
    details = "".join(f"\n  - {detail}" for detail in issue.details.splitlines() if detail.strip())
    return f"- {issue.message}{details}"


def naming_toolset(issue: InitializationIssue, manifest: Manifest) -> InitializationIssue:
    """Return the issue with the toolset's name added to its message, which otherwise contains only
    the toolset's index in the manifest.
    """
    place = _toolset_path.match(issue.message)
    toolsets = manifest.tool_sets[int(place[1]) :][:1] if place else ()
    label = "".join(toolset.label for toolset in toolsets)
    if not label:
        return issue
    return InitializationIssue(
        f"Toolset {label}: {issue.message}",
        section=issue.section,
        details=issue.details,
        is_hard=issue.is_hard,
    )
