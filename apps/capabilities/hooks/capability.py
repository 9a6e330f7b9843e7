"""Defines hooks: tools that QuickApps calls automatically on events such as a user message."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from apps.agent.injection import Injection, arguments_text, inject
from apps.agent.messages import ModelMessage
from apps.agent.tools import Tool, Toolbox
from apps.capabilities.hooks.calls import PlannedHook, call_hook, find_tool
from apps.capabilities.hooks.observers import Observers
from apps.capabilities.registry import Capability, CompletedAnswer, Contribution, Open, Opening
from apps.capabilities.wrappers.display import stage_level, visibility
from apps.datetimes import read_datetime
from apps.errors import InitializationIssue
from apps.manifest.hook_templates import first_problem
from apps.manifest.hooks import Hook
from apps.manifest.manifest import Manifest

logger = logging.getLogger(__name__)

SECONDS = 15.0
SECONDS_AT_THE_END = 30.0
"""The default timeout in seconds for hooks after the answer. The user does not wait for them."""
MOST_SECONDS_AT_THE_END = 60.0
"""Hooks can delay the end of a request by up to this many seconds in total, or by the longest hook
timeout if that is more.
"""
WATCHING = frozenset({"on_user_message", "on_tool_result", "on_status"})
CALLS = "hook_calls"
"""The state key under which the time of each hook's last call is stored, in ISO 8601. The times are
keyed by the prefix of the call IDs.
"""


def prepare(manifest: Manifest) -> Open | None:
    shown = visibility(stage_level(manifest), None, system=True)
    planned = [
        PlannedHook(hook, f"hooks[{i}]", hook.timeout_seconds or seconds_of(hook), shown)
        for i, hook in enumerate(manifest.hooks or ())
    ]
    if not planned:
        return None
    problems = [(one, first_problem(one.hook.arguments, one.hook.event)) for one in planned]
    refused = tuple(
        skipped_issue(one, f"arguments: {problem}") for one, problem in problems if problem
    )
    planned = [one for one, problem in problems if not problem]

    at_start = [one for one in planned if one.hook.event == "on_request_start"]
    at_end = [one for one in planned if one.hook.event == "on_completion"]

    watching = [one for one in planned if one.hook.event in WATCHING]

    def open_hooks(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        run = RunHooks(manifest, opening)
        contribution = Contribution(
            history=tuple(partial(run.start, one) for one in at_start),
            completions=(partial(run.complete, at_end),) if at_end else (),
            issues=refused,
            arrange=(partial(run.find_tools, planned),),
        )
        if not watching:
            return nullcontext(contribution)
        return Observers(opening, watching, run.tools).watching(contribution)

    return open_hooks


def seconds_of(hook: Hook) -> float:
    return SECONDS_AT_THE_END if hook.event == "on_completion" else SECONDS


@dataclass(frozen=True, slots=True)
class RunHooks:
    """Finds and runs the hooks of one run."""

    manifest: Manifest
    opening: Opening
    tools: dict[str, Tool] = field(default_factory=dict)
    """The tools of the hooks, by the hooks' paths in the manifest."""

    def find_tools(
        self, planned: Sequence[PlannedHook], toolbox: Toolbox
    ) -> list[InitializationIssue]:
        """Find the tools of hooks. Return an issue for each missing tool."""
        issues = []
        for one in planned:
            tool = find_tool(one.hook, self.manifest, toolbox)
            if tool is not None:
                self.tools[one.path] = tool
                continue
            of = f" of toolset '{one.hook.toolset_name}'" if one.hook.toolset_name else ""
            problem = f"tool '{one.hook.tool_name}'{of} not found in initialized tools"
            issues.append(skipped_issue(one, problem))
        return issues

    async def start(
        self, planned: PlannedHook, messages: Sequence[ModelMessage]
    ) -> Sequence[ModelMessage]:
        """Run a hook at the start of a request. Return the messages with the hook's result, as if
        the model had called the tool.
        """
        tool, hook = self.tools.get(planned.path), planned.hook
        if tool is None:
            return messages
        identity = arguments_text(hook.arguments)
        blank = Injection(tool.spec.name, {}, None, hook.frequency, identity)
        if self.is_fresh(hook, blank.prefix, messages):
            return messages
        called = await call_hook(planned, tool, self.opening, messages)
        if called is None:
            return messages
        if hook.refresh_condition is not None:
            remember_call(self.opening.conversation.saved, blank.prefix, datetime.now(UTC))
        arguments, result = called
        said = Injection(
            tool.spec.name,
            arguments,
            result.content,
            hook.frequency,
            identity,
            attachments=result.attachments,
            state=result.state,
        )
        return inject(messages, said)

    def is_fresh(self, hook: Hook, prefix: str, messages: Sequence[ModelMessage]) -> bool:
        wanted, state = hook.refresh_condition, self.opening.conversation.state
        if wanted is None:
            return False
        among = messages if hook.frequency == "append_if_changed" else None
        moment = fresh_call(state, prefix, wanted.ttl_minutes, among)
        if moment is None:
            return False
        remember_call(self.opening.conversation.saved, prefix, moment)
        return True

    async def complete(self, planned: Sequence[PlannedHook], completed: CompletedAnswer) -> None:
        """Call the hooks one after another, within their shared time limit."""
        seconds = max(MOST_SECONDS_AT_THE_END, *(one.seconds for one in planned))
        try:
            async with asyncio.timeout(seconds):
                for one in planned:
                    await self.complete_one(one, completed)
        except TimeoutError:
            logger.warning(
                "Hooks after an answer exceeded their limit of %g s; skipped the remaining hooks",
                seconds,
            )

    async def complete_one(self, planned: PlannedHook, completed: CompletedAnswer) -> None:
        tool = self.tools.get(planned.path)
        if tool is not None:
            await call_hook(
                planned,
                tool,
                self.opening,
                completed.messages,
                iteration_count=completed.iterations,
                total_tool_calls=completed.tool_calls,
            )


def skipped_issue(planned: PlannedHook, problem: str) -> InitializationIssue:
    text = f"{planned.label}: {problem}, so the hook does not run."
    return InitializationIssue(text, section="Hooks")


def fresh_call(
    state: Mapping[str, Any], prefix: str, minutes: int, messages: Sequence[ModelMessage] | None
) -> datetime | None:
    """Return the time of the tool's last call, or None if the call is older than `minutes`.

    If `messages` is not None, it must contain that call.
    """
    calls = state.get(CALLS)
    try:
        # The state comes from the client and is untrusted.
        moment = read_datetime(calls[prefix] if isinstance(calls, Mapping) else "")
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    if not timedelta(0) <= datetime.now(UTC) - moment < timedelta(minutes=minutes):
        return None
    ids = (call.id for message in messages or () for call in message.tool_calls)
    is_said = messages is None or any(call_id.startswith(prefix) for call_id in ids)
    return moment if is_said else None


def remember_call(saved: dict[str, Any], prefix: str, moment: datetime) -> None:
    calls = saved.setdefault(CALLS, {})
    calls[prefix] = moment.isoformat(timespec="seconds")


hooks = Capability("hooks", frozenset({"hooks"}), prepare)
