"""The loop: ask the model, run the tools it asked for, repeat until it answers.

Limits, approvals, retries and display live in wrappers, in steps or at the edge, so this file
stays the same when features arrive.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from apps.agent.early import Announcement, EarlyStages
from apps.agent.events import Emit, ModelUsage, ToolCallsRequested
from apps.agent.messages import Message, ToolCall
from apps.agent.model import Model, ModelRequest
from apps.agent.replies import Reply, ask, show_once
from apps.agent.tools import Invocation, Tool, ToolResult, ToolSpec
from apps.errors import StepLimitReached, Stopped, ToolError

logger = logging.getLogger(__name__)

ViewStep = Callable[[Sequence[Message]], Awaitable[Sequence[Message]]]
"""Messages as the model is to see them; nothing of it is kept."""
ResultStep = Callable[[ToolCall, ToolResult], Awaitable[ToolResult]]
"""A tool's result on its way to the model."""

UNLIMITED = -1
UNEXPECTED = ToolResult("Error: the tool failed unexpectedly.")


@dataclass(frozen=True, slots=True)
class Timing:
    """How long one call of a model or a tool took."""

    name: str
    seconds: float
    is_tool: bool = False


@dataclass(slots=True)
class Progress:
    """What a run has gathered so far. It outlives an error, so that the state can be saved."""

    added: list[Message] = field(default_factory=list)
    usage: list[ModelUsage] = field(default_factory=list)
    said_text: bool = False
    shown: set[str] = field(default_factory=set)
    """URLs of the attachments that the answer already has."""
    timings: list[Timing] = field(default_factory=list)
    """Of everything that ended, in the order in which it did."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One call of the model, and of the tools that it then asks for."""

    iteration: int
    conversation: Sequence[Message]
    emit: Emit
    progress: Progress
    early: EarlyStages
    deferred: ExitStack
    """Stages that stay open until the model's next answer is complete."""


@dataclass(frozen=True, slots=True)
class AgentLoop:
    """`external` are tools of the client: shown to the model, never run here.

    `tools` are listed anew for each call of the model, so tools may appear while the loop runs;
    `unlisted` ones can be called although the model is not told of them.
    `first_parameters` are of the first call only (`tool_choice` would make the loop endless).
    """

    model: Model
    name: str
    tools: Mapping[str, Tool]
    unlisted: Mapping[str, Tool] = field(default_factory=dict)
    external: Mapping[str, ToolSpec] = field(default_factory=dict)
    static_tools: Sequence[Mapping[str, Any]] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    first_parameters: Mapping[str, Any] = field(default_factory=dict)
    view: Sequence[ViewStep] = ()
    results: Sequence[ResultStep] = ()
    max_iterations: int = 15
    show_stages: bool = True

    async def run(self, messages: Sequence[Message], emit: Emit, progress: Progress) -> str:
        """Answer `messages`, adding every new message to `progress`; return the finish reason.

        Raises `StepLimitReached`, `ModelFailed`, `Stopped`.
        """
        iteration = 0
        with ExitStack() as deferred:
            while self.max_iterations == UNLIMITED or iteration < self.max_iterations:
                iteration += 1
                conversation = (*messages, *progress.added)
                early = EarlyStages(self.announced, conversation, emit)
                turn = Turn(iteration, conversation, emit, progress, early, deferred)
                with early.closing():
                    reason = await self.take(turn)
                if reason:
                    return reason
            raise StepLimitReached(self.max_iterations)

    async def take(self, turn: Turn) -> str:
        """Ask once and run what the answer calls; the finish reason, "" to go on."""
        progress = turn.progress
        started = time.monotonic()
        reply = await self.ask(turn)
        turn.deferred.close()
        progress.timings.append(Timing(self.name, time.monotonic() - started))
        progress.usage += reply.usage
        progress.said_text = progress.said_text or bool(reply.message.content)
        calls = reply.message.tool_calls
        if not calls:
            progress.added.append(reply.message)
            return reply.finish_reason
        external = tuple(call for call in calls if call.name in self.external)
        internal = tuple(call for call in calls if call.name not in self.external)
        if internal:
            await self.run_tools(turn, reply.message, internal)
        if external:
            turn.emit(ToolCallsRequested(external))
        return "tool_calls" if external else ""

    async def ask(self, turn: Turn) -> Reply:
        messages = turn.conversation
        for step in self.view:
            messages = await step(messages)
        specs = [*(tool.spec for tool in self.tools.values()), *self.external.values()]
        first = self.first_parameters if turn.iteration == 1 else {}
        request = ModelRequest(messages, specs, {**self.parameters, **first}, self.static_tools)
        return await ask(
            self.model,
            request,
            turn.emit,
            name=self.name,
            lead="\n\n" if turn.progress.said_text else "",
            stage_prefix=f"model-{turn.iteration}-" if self.show_stages else None,
            shown=turn.progress.shown,
            early=turn.early,
        )

    async def run_tools(self, turn: Turn, asked: Message, calls: Sequence[ToolCall]) -> None:
        """Run the calls of one answer at the same time; keep their results in call order."""
        progress = turn.progress
        conversation = (*turn.conversation, asked)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self.call(turn, call, conversation)) for call in calls]
        outcomes = [UNEXPECTED if task.cancelled() else task.result() for task in tasks]
        progress.added.append(replace(asked, tool_calls=tuple(calls)))
        stopped: Stopped | None = None
        for call, outcome in zip(calls, outcomes, strict=True):
            if isinstance(outcome, Stopped):
                stopped = outcome
                outcome = ToolResult(str(outcome))
            progress.added.append(answer(call, outcome))
            progress.usage += outcome.usage
            for attachment in outcome.propagated:
                show_once(attachment, turn.emit, progress.shown)
        if stopped is not None:
            raise stopped

    async def call(
        self, turn: Turn, call: ToolCall, messages: Sequence[Message]
    ) -> ToolResult | Stopped:
        """Run one tool call. Whatever goes wrong, its siblings go on and the model gets a reply."""
        try:
            with turn.early.taken(call) as early:
                tool, arguments = self.find(call)
                started = time.monotonic()
                try:
                    result = await tool.call(
                        Invocation(
                            call.id,
                            arguments,
                            messages,
                            turn.emit,
                            early=early,
                            defer=turn.deferred.push,
                        )
                    )
                finally:
                    seconds = time.monotonic() - started
                    turn.progress.timings.append(Timing(tool.spec.name, seconds, is_tool=True))
            for step in self.results:
                result = await step(call, result)
        except ToolError as error:
            return ToolResult(f"Error: {error}")
        except Stopped as error:
            return error
        except Exception:
            logger.exception("Tool %r failed", call.name)
            return UNEXPECTED
        return result

    def known(self, name: str) -> Tool | None:
        return self.tools.get(name) or self.unlisted.get(name)

    def announced(self, name: str) -> Announcement | None:
        tool = None if name in self.external else self.known(name)
        return tool.announcement if tool is not None else None

    def find(self, call: ToolCall) -> tuple[Tool, dict[str, Any]]:
        tool = self.known(call.name)
        if tool is None:
            logger.error("Unknown tool %r; known: %s", call.name, sorted(self.tools))
            raise ToolError(
                f"Unknown tool '{call.name}'.\n\n"
                "This tool does not exist. Check the tool name and try again."
            )
        try:
            arguments = msgspec.json.decode(call.arguments or "{}")
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise ToolError(
                f"The arguments are not valid JSON: {error}. Send one JSON object."
            ) from error
        if not isinstance(arguments, dict):
            raise ToolError(
                f"The arguments are a JSON {type(arguments).__name__}; send one JSON object."
            )
        return tool, arguments


def answer(call: ToolCall, result: ToolResult) -> Message:
    return Message(
        "tool",
        result.content,
        tool_call_id=call.id,
        attachments=result.attachments,
        state=result.state,
    )
