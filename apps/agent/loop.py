"""The loop: ask the model, run the tools it asked for, repeat until it answers.

Limits, approvals, retries and display live in wrappers, in steps or at the edge, so that features
do not change this module.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from apps.agent.assembly import Allowance, Assembly, Reply, show_once
from apps.agent.calls import (
    UNEXPECTED,
    ToolOutcome,
    call_tool,
    refusal,
    result_message,
    static_names,
)
from apps.agent.events import AnnotationAdded, Emit, ModelUsage, ToolCallsRequested
from apps.agent.messages import Message, ToolCall, as_json, unanswered
from apps.agent.model import Model, ModelRequest
from apps.agent.model_stages import ModelStages
from apps.agent.records import log_payload, log_refused_calls, log_reply
from apps.agent.replies import RetryPolicy, call_ids
from apps.agent.stages import Announcement, DeferredStages, EarlyStages
from apps.agent.tools import Invocation, ResultStep, Tool, ToolSpec
from apps.errors import ModelFailed, StepLimitReached

logger = logging.getLogger(__name__)

ViewStep = Callable[[Sequence[Message]], Awaitable[Sequence[Message]]]
"""The messages as the model sees them; the conversation keeps its own."""
Recovery = Callable[[ModelFailed, Sequence[Message]], Awaitable[Sequence[Message] | None]]
"""A conversation to keep, with which the model may not fail again; None if there is none."""

UNLIMITED = -1
NOTHING = " "
"""The text of an empty answer: services refuse an empty one when it comes back."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The duration of one call of a model or a tool."""

    name: str
    seconds: float
    is_tool: bool = False


@dataclass(slots=True)
class Progress:
    """The results of a run so far. They outlive an error, so that the state can be saved."""

    base: Sequence[Message] = ()
    """The conversation that the run continues; since a recovery, the rewritten one."""
    added: list[Message] = field(default_factory=list)
    usage: list[ModelUsage] = field(default_factory=list)
    iterations: int = 0
    tool_calls: int = 0
    said_text: bool = False
    has_recovered: bool = False
    allowance: Allowance = field(default_factory=Allowance)
    shown: set[str] = field(default_factory=set)
    """URLs of the attachments that the answer already has."""
    timings: list[Timing] = field(default_factory=list)
    """Of all calls, in the order in which they ended."""

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

    `tools` are listed again for each call of the model, so tools may appear while the loop runs.
    The model can call `unlisted` ones, which it is not shown, but not `hidden` ones.
    `first_parameters` are for the first call only (`tool_choice` would make the loop endless).
    `requires_external` keeps them until an external tool is called; after the first call only
    external tools are listed then, because a model could call the others for ever instead.
    `recoveries` are tried in their order when the model fails, once in a run.
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
    retries: RetryPolicy = field(default_factory=RetryPolicy)

    async def run(self, messages: Sequence[Message], emit: Emit, progress: Progress) -> str:
        """Answer `messages`, adding every new message to `progress`; return the finish reason.

        Unanswered calls at their end are made first.
        Raises `StepLimitReached`, `ModelFailed`, `Stopped`.
        """
        progress.base = messages
        with DeferredStages() as deferred:
            reason = ""
            if calls := unanswered(messages):
                reason = await self.make_calls(self.turn(emit, progress, deferred), calls)
            while not reason:
                if self.max_iterations != UNLIMITED and progress.iterations >= self.max_iterations:
                    raise StepLimitReached(self.max_iterations)
                progress.iterations += 1
                reason = await self.iterate(emit, progress, deferred)
            return reason

    async def iterate(self, emit: Emit, progress: Progress, deferred: DeferredStages) -> str:
        """Ask, and run the calls of the answer; the finish reason, "" to go on."""
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
                turn.deferred.show_changes(turn.conversation, progress.base)
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
            await self.retries.receive(self.model, request, assembly, self.name)
        finally:
            seconds = time.monotonic() - started
            progress.timings.append(Timing(self.name, seconds))
            progress.usage += assembly.spent(self.name)
            progress.said_text = progress.said_text or bool(assembly.text)
        turn.deferred.close()
        reply = assembly.reply(self.name, call_ids(request.messages))
        log_reply(reply, self.name, progress.iterations, seconds)
        return reply

    async def request(self, turn: Turn) -> ModelRequest:
        messages = turn.conversation
        for step in self.view:
            messages = await step(messages)
        log_payload("messages for the model", lambda: as_json(messages))
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
            allowance=progress.allowance,
            shows_logprobs=self.shows_logprobs,
        )

    async def act(self, turn: Turn, reply: Reply) -> str:
        """Keep the answer and make its calls; the finish reason, "" to go on."""
        message = replace(reply.message, content=reply.message.content or NOTHING)
        if message.tool_calls:
            return await self.make_calls(turn, message.tool_calls, message)
        turn.progress.added.append(message)
        return reply.finish_reason

    async def make_calls(
        self, turn: Turn, calls: Sequence[ToolCall], message: Message | None = None
    ) -> str:
        """Run our calls and hand the client its own; the finish reason, "" to go on.

        `message` has the calls, None if it is in the conversation already.
        """
        internal = tuple(call for call in calls if call.name not in self.external)
        external = tuple(call for call in calls if call.name in self.external)
        if internal:
            asking = () if message is None else (message,)
            outcomes = await self.run_tools(turn, internal, (*turn.conversation, *asking))
            turn.progress.added += [replace(one, tool_calls=internal) for one in asking]
            self.keep_results(turn, internal, outcomes)
        if not external:
            return ""
        turn.emit(ToolCallsRequested(external))
        return "tool_calls"

    async def run_tools(
        self, turn: Turn, calls: Sequence[ToolCall], conversation: Sequence[Message]
    ) -> list[ToolOutcome]:
        """Run the calls concurrently; their outcomes, in the order of the calls."""
        turn.progress.tool_calls += len(calls)
        known = self.tools.keys() | self.unlisted.keys()
        log_refused_calls(calls, known, self.hidden.keys(), static_names(self.static_tools))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self.call(turn, call, conversation)) for call in calls]
        # A tool that cancels itself has failed; the run was not cancelled.
        return [ToolOutcome(UNEXPECTED) if task.cancelled() else task.result() for task in tasks]

    def keep_results(
        self, turn: Turn, calls: Sequence[ToolCall], outcomes: Sequence[ToolOutcome]
    ) -> None:
        """Keep the results and show what goes with them. Raises `Stopped`."""
        progress = turn.progress
        for call, outcome in zip(calls, outcomes, strict=True):
            result = outcome.result
            progress.added.append(result_message(call, result))
            progress.usage += result.usage
            for attachment in result.propagated:
                show_once(attachment, turn.emit, progress.shown)
            for annotation in result.annotations:
                turn.emit(AnnotationAdded(annotation))
        for outcome in reversed(outcomes):
            if outcome.stopped is not None:
                raise outcome.stopped

    async def call(
        self, turn: Turn, call: ToolCall, conversation: Sequence[Message]
    ) -> ToolOutcome:
        """Run one tool call. Its failure does not end the others, and the model gets a reply."""
        log_payload(f"arguments of {call.name}", lambda: call.arguments)
        with turn.early.taken(call) as early:
            tool = self.find_tool(call.name)
            if tool is None:
                refused = refusal(call.name, self.hidden, static_names(self.static_tools))
                return ToolOutcome(refused, "open", refused.content)
            invocation = Invocation(
                call.id,
                messages=conversation,
                emit=turn.emit,
                early=early,
                defer=turn.deferred.keep,
                spend=turn.progress.usage.extend,
            )
            outcome = await call_tool(tool, call, invocation, self.results)
        if outcome.seconds is not None:
            timing = Timing(tool.spec.name, outcome.seconds, is_tool=True)
            turn.progress.timings.append(timing)
        log_payload(f"result of {call.name}", lambda: outcome.result.content)
        return outcome

    def find_tool(self, name: str) -> Tool | None:
        return self.tools.get(name) or self.unlisted.get(name)

    def announced(self, name: str) -> Announcement | None:
        tool = None if name in self.external else self.find_tool(name)
        return tool.announcement if tool is not None else None
