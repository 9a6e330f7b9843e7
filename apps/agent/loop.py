"""The loop: ask the model, run the tools it asked for, repeat until it answers.

Limits, approvals, retries and display live in wrappers, in steps or at the edge, so this file
stays the same when features arrive.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from apps.agent.assembly import Assembly, Reply, show_once
from apps.agent.calls import (
    answer,
    failed,
    read_arguments,
    refusal,
    static_names,
    tell_of,
    tell_refused,
)
from apps.agent.deferred import DeferredStages
from apps.agent.early import Announcement, EarlyStages
from apps.agent.events import AnnotationAdded, Emit, ModelUsage, ToolCallsRequested
from apps.agent.messages import Message, ToolCall, as_json
from apps.agent.model import Model, ModelRequest
from apps.agent.model_stages import ModelStages
from apps.agent.records import payload
from apps.agent.replies import ids_of
from apps.agent.retries import Persistence
from apps.agent.room import Room
from apps.agent.surrogates import whole
from apps.agent.tools import Invocation, Tool, ToolResult, ToolSpec
from apps.errors import ModelFailed, StepLimitReached, Stopped, ToolError

logger = logging.getLogger(__name__)

ViewStep = Callable[[Sequence[Message]], Awaitable[Sequence[Message]]]
"""Messages as the model is to see them; nothing of it is kept."""
ResultStep = Callable[[ToolCall, ToolResult], Awaitable[ToolResult]]
"""A tool's result on its way to the model."""
Recovery = Callable[[ModelFailed, Sequence[Message]], Awaitable[Sequence[Message] | None]]
"""The conversation as the model may take it after all, to be kept; None if it cannot be mended."""

UNLIMITED = -1
NOTHING = " "
"""What an answer without text says: services refuse an empty one when it comes back."""
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

    base: Sequence[Message] = ()
    """What the run continues: the conversation, since a recovery all that it had come to."""
    added: list[Message] = field(default_factory=list)
    usage: list[ModelUsage] = field(default_factory=list)
    iterations: int = 0
    tool_calls: int = 0
    said_text: bool = False
    has_recovered: bool = False
    room: Room = field(default_factory=Room)
    """What the model may still say, in all its answers together."""
    shown: set[str] = field(default_factory=set)
    """URLs of the attachments that the answer already has."""
    timings: list[Timing] = field(default_factory=list)
    """Of everything that ended, in the order in which it did."""

    @property
    def conversation(self) -> tuple[Message, ...]:
        return (*self.base, *self.added)


@dataclass(frozen=True, slots=True)
class Turn:
    """One call of the model, and of the tools that it then asks for."""

    conversation: Sequence[Message]
    emit: Emit
    progress: Progress
    early: EarlyStages
    deferred: DeferredStages
    """Stages that stay open until the model's next answer is complete."""


@dataclass(frozen=True, slots=True)
class AgentLoop:
    """`external` are tools of the client: shown to the model, never run here.

    `tools` are listed anew for each call of the model, so tools may appear while the loop runs;
    `unlisted` ones can be called although the model is not told of them, `hidden` ones cannot.
    `first_parameters` are of the first call only (`tool_choice` would make the loop endless).
    `requires_external`: they stay until an external tool is called. After the first call only
    external tools are listed, because a model could call the others for ever instead.
    `recoveries` are asked in their order when the model fails, once in a run.
    """

    model: Model
    name: str
    tools: Mapping[str, Tool]
    unlisted: Mapping[str, Tool] = field(default_factory=dict)
    hidden: Mapping[str, Tool] = field(default_factory=dict)
    external: Mapping[str, ToolSpec] = field(default_factory=dict)
    static_tools: Sequence[Mapping[str, Any]] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    first_parameters: Mapping[str, Any] = field(default_factory=dict)
    requires_external: bool = False
    view: Sequence[ViewStep] = ()
    results: Sequence[ResultStep] = ()
    recoveries: Sequence[Recovery] = ()
    max_iterations: int = 15
    show_stages: bool = True
    shows_logprobs: bool = False
    persistence: Persistence = field(default_factory=Persistence)

    async def run(self, messages: Sequence[Message], emit: Emit, progress: Progress) -> str:
        """Answer `messages`, adding every new message to `progress`; return the finish reason.

        Raises `StepLimitReached`, `ModelFailed`, `Stopped`.
        """
        progress.base = messages
        with DeferredStages() as deferred:
            while self.max_iterations == UNLIMITED or progress.iterations < self.max_iterations:
                progress.iterations += 1
                reason = await self.iterate(emit, progress, deferred)
                if reason:
                    return reason
            raise StepLimitReached(self.max_iterations)

    async def iterate(self, emit: Emit, progress: Progress, deferred: DeferredStages) -> str:
        """Ask, and run what the answer calls; the finish reason, "" to go on."""
        original: ModelFailed | None = None
        while True:
            turn = self.turn(emit, progress, deferred)
            with turn.early:
                try:
                    reply = await self.ask(turn)
                except ModelFailed as failure:
                    if original is not None:
                        raise original from failure
                    if not await self.recover(turn, failure):
                        raise
                    original = failure
                else:
                    return await self.act(turn, reply)

    def turn(self, emit: Emit, progress: Progress, deferred: DeferredStages) -> Turn:
        conversation = progress.conversation
        early = EarlyStages(self.announced, conversation, emit)
        return Turn(conversation, emit, progress, early, deferred)

    async def recover(self, turn: Turn, failure: ModelFailed) -> bool:
        """Whether the conversation was rewritten, so that the model can be asked again."""
        progress = turn.progress
        for recovery in () if progress.has_recovered else self.recoveries:
            try:
                rewritten = await recovery(failure, turn.conversation)
            except Exception:
                logger.exception("A recovery failed; the model's error stands")
                continue
            if rewritten is not None:
                progress.has_recovered = True
                progress.base = tuple(rewritten)
                progress.added.clear()
                turn.deferred.tell(turn.conversation, progress.base)
                logger.warning("Model call failed and is asked again with other messages")
                return True
        return False

    async def ask(self, turn: Turn) -> Reply:
        """Raises `ModelFailed`."""
        progress = turn.progress
        request = await self.request(turn)
        assembly = self.assembly(turn)
        started = time.monotonic()
        try:
            await self.persistence.receive(self.model, request, assembly, self.name)
        finally:
            seconds = time.monotonic() - started
            progress.timings.append(Timing(self.name, seconds))
            progress.usage += assembly.spent(self.name)
            progress.said_text = progress.said_text or bool(assembly.text)
        turn.deferred.close()
        reply = assembly.reply(self.name, ids_of(request.messages))
        tell_of(reply, self.name, progress.iterations, seconds)
        return reply

    async def request(self, turn: Turn) -> ModelRequest:
        messages = turn.conversation
        for step in self.view:
            messages = await step(messages)
        payload("messages for the model", lambda: as_json(messages))
        is_first = turn.progress.iterations == 1
        first = self.first_parameters if is_first or self.requires_external else {}
        parameters = {**self.parameters, **first}
        specs = list(self.external.values())
        if self.requires_external and not is_first:
            return ModelRequest(messages, specs, parameters)
        own = [tool.spec for tool in self.tools.values()]
        return ModelRequest(messages, own + specs, parameters, self.static_tools)

    def assembly(self, turn: Turn) -> Assembly:
        progress = turn.progress
        again = "again-" if progress.has_recovered else ""
        prefix = f"model-{progress.iterations}-{again}"
        return Assembly(
            turn.emit,
            lead="\n\n" if progress.said_text else "",
            stages=ModelStages(turn.emit, prefix) if self.show_stages else None,
            shown=progress.shown,
            early=turn.early,
            room=progress.room,
            shows_logprobs=self.shows_logprobs,
        )

    async def act(self, turn: Turn, reply: Reply) -> str:
        """Run what the answer calls; the finish reason, "" to go on."""
        message = replace(reply.message, content=reply.message.content or NOTHING)
        calls = message.tool_calls
        if not calls:
            turn.progress.added.append(message)
            return reply.finish_reason
        external = tuple(call for call in calls if call.name in self.external)
        internal = tuple(call for call in calls if call.name not in self.external)
        if internal:
            await self.run_tools(turn, message, internal)
        if external:
            turn.emit(ToolCallsRequested(external))
        return "tool_calls" if external else ""

    async def run_tools(self, turn: Turn, asked: Message, calls: Sequence[ToolCall]) -> None:
        """Run the calls of one answer at the same time; keep their results in call order."""
        progress = turn.progress
        progress.tool_calls += len(calls)
        known = self.tools.keys() | self.unlisted.keys()
        tell_refused(calls, known, self.hidden.keys(), static_names(self.static_tools))
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
            for annotation in outcome.annotations:
                turn.emit(AnnotationAdded(annotation))
        if stopped is not None:
            raise stopped

    async def call(
        self, turn: Turn, call: ToolCall, messages: Sequence[Message]
    ) -> ToolResult | Stopped:
        """Run one tool call. Whatever goes wrong, its siblings go on and the model gets a reply."""
        payload(f"arguments of {call.name}", lambda: call.arguments)
        try:
            with turn.early.taken(call) as early:
                tool = self.known(call.name)
                if tool is None:
                    return refusal(call.name, self.hidden, static_names(self.static_tools))
                invocation = Invocation(
                    call.id,
                    read_arguments(call),
                    messages,
                    turn.emit,
                    early=early,
                    defer=turn.deferred.keep,
                    spend=turn.progress.usage.extend,
                )
                started = time.monotonic()
                try:
                    result = await tool.call(invocation)
                finally:
                    seconds = time.monotonic() - started
                    turn.progress.timings.append(Timing(tool.spec.name, seconds, is_tool=True))
            for step in self.results:
                result = await step(call, result)
        except ToolError as error:
            result = failed(error)
        except Stopped as error:
            return error
        except Exception:
            logger.exception("Tool %r failed", call.name)
            return UNEXPECTED
        result = replace(result, content=whole(result.content))
        payload(f"result of {call.name}", lambda: result.content)
        return result

    def known(self, name: str) -> Tool | None:
        return self.tools.get(name) or self.unlisted.get(name)

    def announced(self, name: str) -> Announcement | None:
        tool = None if name in self.external else self.known(name)
        return tool.announcement if tool is not None else None
