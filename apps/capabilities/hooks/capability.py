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
from apps.capabilities.hooks.calls import PlannedHook, call_hook, find_tool
from apps.capabilities.hooks.freshness import fresh_call, keep
from apps.capabilities.registry import Capability, Completed, Contribution, Open, Opening
from apps.capabilities.wrappers.display import stage_level, visibility
from apps.errors import InitializationIssue
from apps.manifest.hooks import Hook
from apps.manifest.manifest import Manifest
from apps.manifest.templates import first_problem

SECONDS = {"on_request_start": 15.0, "on_completion": 30.0}
"""The default time-outs; the user waits for `on_request_start` only."""


def prepare(manifest: Manifest) -> Open | None:
    shown = visibility(stage_level(manifest), None, system=True)
    planned = [
        PlannedHook(hook, f"hooks[{i}]", hook.timeout_seconds or SECONDS[hook.event], shown)
        for i, hook in enumerate(manifest.hooks or ())
    ]
    if not planned:
        return None
    problems = [(one, first_problem(one.hook.arguments, one.hook.event)) for one in planned]
    refused = tuple(unfillable(one, problem) for one, problem in problems if problem)
    planned = [one for one, problem in problems if not problem]

    at_start = [one for one in planned if one.hook.event == "on_request_start"]
    at_end = [one for one in planned if one.hook.event == "on_completion"]

    def open_hooks(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        hooks_of_run = RunHooks(manifest, opening)
        return nullcontext(
            Contribution(
                history=tuple(partial(hooks_of_run.start, one) for one in at_start),
                completions=tuple(partial(hooks_of_run.complete, one) for one in at_end),
                issues=refused,
                arrange=(partial(hooks_of_run.find, planned),),
            )
        )

    return open_hooks


@dataclass(frozen=True, slots=True)
class RunHooks:
    """The hooks of one run; `tools`: place of a hook → its tool."""

    manifest: Manifest
    opening: Opening
    tools: dict[str, Tool] = field(default_factory=dict)

    def find(self, planned: Sequence[PlannedHook], toolbox: Toolbox) -> list[InitializationIssue]:
        """Look the tools up; an issue for each that is missing."""
        issues = []
        for one in planned:
            tool = find_tool(one.hook, self.manifest, toolbox)
            if tool is None:
                issues.append(missing(one))
            else:
                self.tools[one.place] = tool
        return issues

    async def start(self, planned: PlannedHook, messages: Sequence[Message]) -> Sequence[Message]:
        """The messages with the result, as if the model had called the tool."""
        tool, hook = self.tools.get(planned.place), planned.hook
        if tool is None:
            return messages
        identity = written(hook.arguments)
        blank = Injection(tool.spec.name, {}, None, hook.frequency, identity)
        if self.is_fresh(hook, blank.prefix, messages):
            return messages
        called = await call_hook(planned, tool, self.opening, messages)
        if called is None:
            return messages
        if hook.refresh_condition is not None:
            keep(self.opening.saved, blank.prefix, datetime.now(UTC))
        result = called.result
        return inject(
            messages,
            Injection(
                tool.spec.name,
                called.arguments,
                result.content,
                hook.frequency,
                identity,
                attachments=result.attachments,
                state=result.state,
            ),
        )

    def is_fresh(self, hook: Hook, prefix: str, messages: Sequence[Message]) -> bool:
        wanted, state = hook.refresh_condition, self.opening.state
        if wanted is None:
            return False
        among = messages if hook.frequency == "append_if_changed" else None
        moment = fresh_call(state, prefix, wanted.ttl_minutes, among)
        if moment is None:
            return False
        keep(self.opening.saved, prefix, moment)
        return True

    async def complete(self, planned: PlannedHook, completed: Completed) -> None:
        tool = self.tools.get(planned.place)
        if tool is not None:
            await call_hook(
                planned,
                tool,
                self.opening,
                completed.messages,
                iteration_count=completed.iterations,
                total_tool_calls=completed.tool_calls,
            )


def unfillable(planned: PlannedHook, problem: str) -> InitializationIssue:
    return InitializationIssue(
        f"{planned.label}: arguments: {problem}, so the hook does not run.", section="Hooks"
    )


def missing(planned: PlannedHook) -> InitializationIssue:
    hook = planned.hook
    of = f" of toolset '{hook.toolset_name}'" if hook.toolset_name else ""
    return InitializationIssue(
        f"{planned.label}: tool '{hook.tool_name}'{of} not found in initialized tools, so the "
        "hook does not run.",
        section="Hooks",
    )


hooks = Capability("hooks", frozenset({"hooks"}), prepare)
