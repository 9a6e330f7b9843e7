"""Defines the tool with which the model delegates tasks to sub-agents.

A sub-agent can use some of the application's tools.
"""

from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field

from django.conf import settings

from apps.agent.tools import Invocation, PendingResult, ToolResult
from apps.capabilities import preparation
from apps.capabilities.registry import (
    Capability,
    Contribution,
    Delegation,
    Open,
    Opening,
    PreparedCapabilities,
    PreparedTool,
)
from apps.capabilities.subagents.delegation import SubagentCall
from apps.capabilities.subagents.subagent_manifest import manifest_of
from apps.capabilities.subagents.subagent_output import SubagentOutput
from apps.capabilities.subagents.task_tool import (
    TOOL_NAME,
    SubagentTask,
    description_of,
    display_for,
    read_task,
    task_arguments,
)
from apps.capabilities.subagents.types import OfferedTypes, SubagentType, offer_of
from apps.capabilities.wrappers.approval_rules import approval_rules
from apps.capabilities.wrappers.composition import ToolOptions, prepared_tool
from apps.errors import ToolError
from apps.manifest.manifest import Manifest

WAITING_SECONDS = 3600
"""A task waits up to this many seconds before it starts."""
MOST_PREPARED = 32
"""Up to this many prepared sub-agents are cached, one for each selection of toolsets."""


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.subagents if manifest.features is not None else None
    if wanted is None or not wanted.enabled:
        return None
    offer = offer_of(manifest, wanted)
    if not offer.types:
        return None
    limit = float(settings.SUBAGENT_TIMEOUT_SECONDS)
    seconds = min(wanted.timeout_seconds or limit, limit)
    tool = make_tool(SubagentTools(manifest, offer, seconds))

    def open_subagents(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        return nullcontext(Contribution((tool.bind(opening),), issues=offer.issues))

    return open_subagents


@dataclass(frozen=True, slots=True)
class SubagentTools:
    """Runs the sub-agents of an application."""

    manifest: Manifest
    offer: OfferedTypes
    seconds: float
    """The time limit for a task, in seconds."""
    prepared: dict[tuple[str, frozenset[str] | None], tuple[Manifest, PreparedCapabilities]] = (
        field(default_factory=dict)
    )
    """Prepared sub-agents, cached by name and selected toolsets."""

    def prepared_for(
        self, chosen: SubagentType, toolsets: frozenset[str] | None
    ) -> tuple[Manifest, PreparedCapabilities]:
        key = chosen.name, toolsets
        if key not in self.prepared:
            while len(self.prepared) >= MOST_PREPARED:
                self.prepared.pop(next(iter(self.prepared)))
            manifest = manifest_of(self.manifest, chosen.kind_with(toolsets))
            self.prepared[key] = manifest, preparation.prepare(manifest)
        return self.prepared[key]

    async def work(self, opening: Opening, invocation: Invocation) -> ToolResult:
        """Run a sub-agent, and return its result. Raises `InvalidParameter` if an argument is
        invalid, and `ToolError` or `ToolTimedOut` if the task fails.
        """
        task = read_task(invocation.arguments, self.offer)
        features = self.manifest.features
        shows_stages = features is None or features.stage_display.propagate_sub_stages
        output = SubagentOutput(invocation, shows_stages)
        manifest, prepared = self.prepared_for(task.type, toolsets_for(task))
        call = SubagentCall(TOOL_NAME, self.seconds, output)
        try:
            text = await call.answer(opening, Delegation(manifest, prepared, task.prompt))
        except BaseException:
            invocation.spend(output.usage)
            raise
        if text is None:
            return PendingResult()
        return output.result(text)


def toolsets_for(task: SubagentTask) -> frozenset[str] | None:
    """Return the toolsets of a task, or None for all. Raises `ToolError` if none of the sub-agent's
    toolsets is available.
    """
    if task.tool_sets is not None:
        return task.tool_sets
    if task.type.has_lost_all:
        raise ToolError(
            f"The sub-agent {task.type.name!r} was not started, because none of its toolsets is "
            "available. Continue without it."
        )
    return task.type.tool_sets


def make_tool(subagents: SubagentTools) -> PreparedTool:
    manifest, offer = subagents.manifest, subagents.offer
    options = ToolOptions(
        task_arguments(offer),
        display_for(manifest),
        WAITING_SECONDS + subagents.seconds,
        is_repeatable=True,  # The sub-agent's own steps are recorded.
        approval=approval_rules(manifest).unasked,
        risk="read-only",
    )
    return prepared_tool(TOOL_NAME, description_of(offer), subagents.work, options)


subagents = Capability("subagents", frozenset({"features.subagents"}), prepare)
