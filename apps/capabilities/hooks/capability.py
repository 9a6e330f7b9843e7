"""Hooks: tools that are called by themselves, before the model is asked or after it answered."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from apps.agent.injection import Injection, inject, written
from apps.agent.messages import Message
from apps.agent.tools import Tool, Toolbox
from apps.capabilities.hooks.finding import find_tool
from apps.capabilities.hooks.firing import Planned, fire
from apps.capabilities.hooks.refreshing import is_fresh, keep, moment_of
from apps.capabilities.registry import Capability, Completed, Contribution, Open, Opening
from apps.capabilities.wrappers.display import stage_level, visibility
from apps.errors import InitializationIssue
from apps.manifest.hooks import Hook
from apps.manifest.manifest import Manifest
from apps.manifest.templates import first_problem

SECONDS = {"on_request_start": 15.0, "on_completion": 30.0}
"""Of a hook that does not say itself; somebody waits for the first, nobody for the second."""


def prepare(manifest: Manifest) -> Open | None:
    shown = visibility(stage_level(manifest), None, system=True)
    planned = [
        Planned(hook, f"hooks[{i}]", hook.timeout_seconds or SECONDS[hook.event], shown)
        for i, hook in enumerate(manifest.hooks or ())
    ]
    if not planned:
        return None
    problems = [(one, first_problem(one.hook.arguments, one.hook.event)) for one in planned]
    refused = tuple(unfillable(one, problem) for one, problem in problems if problem)
    planned = [one for one, problem in problems if not problem]

    def open_hooks(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        ready = Ready(manifest, opening)
        return nullcontext(
            Contribution(
                history=tuple(
                    partial(ready.start, one)
                    for one in planned
                    if one.hook.event == "on_request_start"
                ),
                completions=tuple(
                    partial(ready.complete, one)
                    for one in planned
                    if one.hook.event == "on_completion"
                ),
                issues=refused,
                arrange=(partial(ready.find, planned),),
            )
        )

    return open_hooks


@dataclass(frozen=True, slots=True)
class Ready:
    """The hooks of one run; `tools` by the place of the hook, once all tools are known."""

    manifest: Manifest
    opening: Opening
    tools: dict[str, Tool] = field(default_factory=dict)

    def find(self, planned: Sequence[Planned], toolbox: Toolbox) -> list[InitializationIssue]:
        """What is missing; tools that are withheld from the model later are still to be called."""
        issues = []
        for one in planned:
            tool = find_tool(one.hook, self.manifest, toolbox)
            if tool is None:
                issues.append(missing(one))
            else:
                self.tools[one.place] = tool
        return issues

    async def start(self, planned: Planned, messages: Sequence[Message]) -> Sequence[Message]:
        """The messages with what the tool says, as if the model had asked."""
        tool, hook = self.tools.get(planned.place), planned.hook
        if tool is None:
            return messages
        identity = written(hook.arguments)
        blank = Injection(tool.spec.name, {}, None, hook.frequency, identity)
        if self.is_fresh(hook, blank.prefix, messages):
            return messages
        fired = await fire(planned, tool, self.opening, messages)
        if fired is None:
            return messages
        if hook.refresh_condition is not None:
            keep(self.opening.saved, blank.prefix, datetime.now(UTC))
        result = fired.result
        return inject(
            messages,
            Injection(
                tool.spec.name,
                fired.arguments,
                result.content,
                hook.frequency,
                identity,
                attachments=result.attachments,
                state=result.state,
            ),
        )

    def is_fresh(self, hook: Hook, prefix: str, messages: Sequence[Message]) -> bool:
        """Whether what the tool said the last time is as good as new."""
        wanted, state = hook.refresh_condition, self.opening.state
        if wanted is None:
            return False
        among = messages if hook.frequency == "append_if_changed" else None
        moment = moment_of(state, prefix)
        if moment is None or not is_fresh(state, prefix, wanted.ttl_minutes, among):
            return False
        keep(self.opening.saved, prefix, moment)
        return True

    async def complete(self, planned: Planned, completed: Completed) -> None:
        """Call the tool for what it does; nobody reads what it says."""
        tool = self.tools.get(planned.place)
        if tool is not None:
            await fire(
                planned,
                tool,
                self.opening,
                completed.messages,
                iteration_count=completed.iterations,
                total_tool_calls=completed.tool_calls,
            )


def unfillable(planned: Planned, problem: str) -> InitializationIssue:
    return InitializationIssue(
        f"{planned.label}: arguments: {problem}, so the hook does not run.", section="Hooks"
    )


def missing(planned: Planned) -> InitializationIssue:
    hook = planned.hook
    of = f" of toolset '{hook.toolset_name}'" if hook.toolset_name else ""
    return InitializationIssue(
        f"{planned.label}: tool '{hook.tool_name}'{of} not found in initialized tools, so the "
        "hook does not run.",
        section="Hooks",
    )


hooks = Capability("hooks", frozenset({"hooks"}), prepare)
