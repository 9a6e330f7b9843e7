"""Opens MCP toolsets in a run. A toolset that cannot be opened is reported as an issue."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Hashable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from http import HTTPStatus

from apps.agent.injection import Injection
from apps.agent.tools import Tool
from apps.capabilities.mcp.calls.sign_ins import require_sign_in, sign_in_once, sign_in_problem
from apps.capabilities.mcp.resources import (
    ToolsetResources,
    distrust,
    inject_all,
    list_resources,
    read_eager,
    reading_tool,
    resource_prompt,
)
from apps.capabilities.mcp.sessions.failures import ConnectionFailed
from apps.capabilities.mcp.sessions.listings import Listing, ListingReader
from apps.capabilities.mcp.sessions.pool import Leases, current_pool
from apps.capabilities.mcp.tools import PreparedTools, prepare_tools
from apps.capabilities.mcp.toolsets.bindings import BINDINGS, ToolsetBinding, bind_toolset
from apps.capabilities.mcp.toolsets.declared import Toolset
from apps.capabilities.mcp.toolsets.person_accounts import (
    NotSignedIn,
    SignedIn,
    connect_name,
    connect_tool,
    refused_account,
    unlist,
    wanted_account,
)
from apps.capabilities.mcp.toolsets.pins import withheld_tools
from apps.capabilities.registry import Arrange, Contribution, Opening, PreparedTool
from apps.capabilities.wrappers.value_texts import shorten_text
from apps.errors import DeploymentNotFound, InitializationIssue, QuickAppError, ServiceFailed
from apps.process_state import on_reset
from apps.workspace.egress.urls import AddressInvalid
from apps.workspace.local.tools.mcp_servers import NotRegistered
from apps.workspace.port import SignIn

logger = logging.getLogger(__name__)

INSTRUCTIONS_CHARACTERS = 10_000
NO_TOOLS = "its server lists no tools."
MOST_PREPARED = 8
"""A toolset caches the prepared tools of up to this many listings. A server may return different
tools to different callers.
"""


@dataclass(slots=True)
class OpenedToolset:
    """The result of opening a toolset in a run."""

    binding: ToolsetBinding | None = None
    """The binding to the run, or None if the server was not found."""
    tools: PreparedTools = field(default_factory=PreparedTools)
    instructions: str = ""
    resources: ToolsetResources | None = None
    eager: list[Injection] = field(default_factory=list)
    issues: list[InitializationIssue] = field(default_factory=list)
    refusal: ConnectionFailed | None = None
    """The server's response if it requires a sign-in, otherwise None."""
    connecting: PreparedTool | None = None
    """The tool that asks users to sign in with their own account, if the server supports that."""
    arrange: tuple[Arrange, ...] = ()


class PreparableToolset:
    """Opens a toolset in runs, and caches its prepared tools."""

    def __init__(self, toolset: Toolset) -> None:
        self.toolset = toolset
        self.prepared: dict[Hashable, PreparedTools] = {}

    async def open(self, opening: Opening, leases: Leases) -> OpenedToolset:
        """Open the toolset. If the user has to sign in first, the result contains only the sign-in
        tool.
        """
        wanted = wanted_account(self.toolset)
        if wanted is None:
            return await self.open_tools(opening, leases)
        state: SignedIn = "open"
        try:
            opened = await self.open_tools(opening, leases)
        except NotSignedIn:
            opened, state = OpenedToolset(), "missing"
        if opened.refusal is not None:
            wanted = replace(wanted, challenge=opened.refusal.challenge)
            opened, state = OpenedToolset(), "refused"
        opened.connecting = connect_tool(self.toolset, wanted, state)
        if state == "open":
            opened.arrange = (partial(unlist, connect_name(self.toolset)),)
        return opened

    async def open_tools(self, opening: Opening, leases: Leases) -> OpenedToolset:
        """Open the toolset with its tools. Failures are reported as issues. Raises `NotSignedIn` if
        the user has to sign in first.
        """
        opened = OpenedToolset()
        label = self.toolset.label
        try:
            await self.fill(opened, opening, leases)
        except ConnectionFailed as failure:
            opened.refusal = failure if is_sign_in(failure, self.toolset) else None
            opened.issues.append(failure.issue(label))
            if opened.refusal is None and not failure.timed_out and opened.binding is not None:
                title = opened.binding.endpoint.title
                log_once(opening.application, title, failure.message(label))
        except NotSignedIn:
            raise
        except (QuickAppError, AddressInvalid) as error:
            if not (self.toolset.is_optional and isinstance(error, NotRegistered)):
                opened.issues.append(InitializationIssue(unreachable_reason(self.toolset, error)))
        except Exception:
            logger.exception("Failed to open the toolset %s", self.toolset.path)
            opened.issues.append(
                InitializationIssue(f"Toolset {label}: failed unexpectedly; see the server's log.")
            )
        return opened

    async def open_again(
        self, refused: OpenedToolset, outcome: SignIn, opening: Opening, leases: Leases
    ) -> OpenedToolset:
        """Open the toolset again after the user was asked to sign in."""
        refusal = refused.refusal
        if outcome == "success":
            if refused.binding is not None:
                refused.binding.slot.forget_failures()
            opened = await self.open(opening, leases)
            if opened.refusal is None:
                return opened
            refusal = opened.refusal
        details = refusal.details if refusal is not None else ""
        text = sign_in_problem(outcome, self.toolset.label)
        return OpenedToolset(issues=[InitializationIssue(text, details=details)])

    async def fill(self, opened: OpenedToolset, opening: Opening, leases: Leases) -> None:
        bound = await bind_toolset(self.toolset, opening)
        alone, asks = bound.is_private, "elicitation" in opening.can_ask
        slot = leases.take(bound.endpoint, bound.bucket, alone=alone, asks=asks)
        opened.binding = binding = replace(bound, endpoint=slot.endpoint)
        reader = ListingReader()
        context = binding.request_context()
        listing = await slot.cached("listing", context, reader.read, reader.late)
        if listing.is_partial:
            slot.forget_lists()  # The next run requests the remaining pages again.
        toolset = replace(binding.toolset, server_name=listing.server_name)
        opened.binding = binding = replace(binding, toolset=toolset)
        withheld = await withheld_tools(binding, listing)
        opened.tools = await self.tools(binding.toolset, listing, withheld)
        for issue in opened.tools.issues:
            log_once(opening.application, slot.endpoint.title, issue.message)
        if not listing.tools and not listing.problems:
            log_once(opening.application, slot.endpoint.title, f"{self.toolset.label}: {NO_TOOLS}")
        if binding.toolset.uses_instructions and listing.instructions.strip():
            told = shorten_text(listing.instructions.strip(), INSTRUCTIONS_CHARACTERS)
            label = binding.toolset.label
            lead = f"Instructions from the server of the toolset {label}:"
            opened.instructions = f"{lead}\n\n{told}"
        if listing.has_resources:
            opened.resources = await list_resources(binding)
        if opened.resources is not None:
            opened.eager, opened.issues = await read_eager(opened.resources)
        if opened.resources is not None and opened.eager:
            distrust(opened.resources, opening)

    async def tools(
        self, toolset: Toolset, listing: Listing, withheld: Mapping[str, str]
    ) -> PreparedTools:
        key = (repr(toolset.name), listing.fingerprint, frozenset(withheld.items()))
        found = self.prepared.pop(key, None)
        if found is None:
            # Reading many schemas takes seconds, and would block the event loop.
            found = await asyncio.to_thread(prepare_tools, toolset, listing, withheld)
        self.prepared[key] = found
        if len(self.prepared) > MOST_PREPARED:
            del self.prepared[next(iter(self.prepared))]
        return found


def is_sign_in(failure: ConnectionFailed, toolset: Toolset) -> bool:
    return failure.needs_sign_in or refused_account(toolset, failure) is not None


@lru_cache(maxsize=1024)  # Each problem is logged once per process.
def log_once(application: str, server: str, problem: str) -> None:
    logger.warning("Application %s, MCP server %s: %s", application or "(unnamed)", server, problem)


on_reset(log_once.cache_clear)


@asynccontextmanager
async def open_toolsets(
    toolsets: Sequence[PreparableToolset],
    opening: Opening,
    issues: Sequence[InitializationIssue] = (),
    more: Sequence[Tool] = (),
) -> AsyncIterator[Contribution]:
    """Yield the toolsets as one contribution, with additional `issues` first and tools in `more`
    last.

    Toolsets that require a sign-in are reopened once all capabilities are open, so that a user is
    asked at most once per run.
    """
    async with current_pool().leases() as leases:
        opened = await together(one.open(opening, leases) for one in toolsets)
        refused = {
            index: one.toolset.workspace_id
            for index, one in enumerate(toolsets)
            if one.toolset.workspace_id and opened[index].refusal is not None
        }
        if not refused:
            yield join_contributions(opened, opening, issues, more)
            return
        require_sign_in(refused.values(), opening)

        async def settle() -> Contribution:
            outcomes = await sign_in_once(opening)
            asked = {index: outcomes.get(id, "error") for index, id in refused.items()}
            again = (
                toolsets[index].open_again(opened[index], outcome, opening, leases)
                for index, outcome in asked.items()
            )
            found = dict(zip(refused, await together(again), strict=True))
            every = [found.get(index, one) for index, one in enumerate(opened)]
            return join_contributions(every, opening, issues, more)

        yield Contribution(settle=settle)


async def together(opening: Iterable[Coroutine[None, None, OpenedToolset]]) -> list[OpenedToolset]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one) for one in opening]
    return [task.result() for task in tasks]


def unreachable_reason(toolset: Toolset, error: QuickAppError | AddressInvalid) -> str:
    """Return the reason why the workspace could not find the toolset's server."""
    status = error.status if isinstance(error, ServiceFailed) else None
    named = f"required toolset ({toolset.workspace_id})"
    if isinstance(error, DeploymentNotFound) or status == HTTPStatus.NOT_FOUND:
        return f"A {named} could not be found. Please contact your administrator."
    if status == HTTPStatus.FORBIDDEN:
        return f"Access to a {named} is forbidden. Please contact your administrator."
    return f"Toolset {toolset.label}: {error}"


def join_contributions(
    opened: Sequence[OpenedToolset],
    opening: Opening,
    issues: Sequence[InitializationIssue],
    more: Sequence[Tool],
) -> Contribution:
    bindings = opening.findings.get_or_make(BINDINGS, dict)
    bindings.update((one.binding.toolset.path, one.binding) for one in opened if one.binding)
    tools = [tool for one in opened for tool in one.tools.tools]
    tools += [one.connecting for one in opened if one.connecting is not None]
    offered = [one.resources for one in opened if one.resources is not None]
    if offered:
        tools.append(reading_tool(offered))
    eager = [read for one in opened for read in one.eager]
    found = (issue for one in opened for issue in (*one.tools.issues, *one.issues))
    instructions = (*(one.instructions for one in opened), resource_prompt(offered))
    return Contribution(
        tools=(*(tool.bind(opening) for tool in tools), *more),
        hidden=tuple(tool.bind(opening) for one in opened for tool in one.tools.hidden),
        instructions=tuple(filter(None, instructions)),
        history=(partial(inject_all, eager),) if eager else (),
        issues=(*issues, *found),
        arrange=tuple(arrange for one in opened for arrange in one.arrange),
    )
