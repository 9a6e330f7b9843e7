"""The loop: ask the model, run the tools it asked for, repeat until it answers.

Limits, approvals, retries and display live in wrappers, in steps or at the edge, so that features
do not change this module.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import msgspec

from apps.agent.assembly import Assembly, Reply
from apps.agent.call_names import with_called_names
from apps.agent.calls import (
    ToolOutcome,
    argument_problem,
    refusal,
    result_message,
    static_names,
)
from apps.agent.context_fitter import ContextFitter
from apps.agent.dead_ends import NO_DEAD_ENDS, DeadEnds, keep_uncalled
from apps.agent.early_stages import EarlyStages
from apps.agent.ended_turns import NOTHING, end_turn
from apps.agent.events import AnnotationAdded, Emit, ToolCallsRequested
from apps.agent.fallbacks import stay_with
from apps.agent.ledger import NO_LEDGER, WAITING, Ledger
from apps.agent.messages import Message, ToolCall, last_calling, unanswered
from apps.agent.meter import ToolCallReport
from apps.agent.model import Model, ModelRequest
from apps.agent.model_stages import ModelStages
from apps.agent.model_steps import (
    model_ledger,
    record_reply,
    repeat_recovery,
    repeat_reply,
)
from apps.agent.pictures import show_files
from apps.agent.progress import Progress, Timing, Turn
from apps.agent.records import log_messages, log_refused_calls, log_reply
from apps.agent.recovery import Recovery, recover
from apps.agent.replay import Replay, end_replay
from apps.agent.replies import RetryPolicy, call_ids
from apps.agent.sent_request import PromptSpan
from apps.agent.stages import Announcement, DeferredStages
from apps.agent.taint import Taint
from apps.agent.tool_batch import ToolBatch, all_failed, parted, waits
from apps.agent.tool_steps import ToolSteps
from apps.agent.tools import ResultStep, Tool, ToolResult, ToolSpec
from apps.errors import ModelFailed, ToolsKeepFailing

ViewStep = Callable[[Sequence[Message]], Awaitable[Sequence[Message]]]
"""The messages as the model sees them; the conversation keeps its own."""


class AgentLoop(msgspec.Struct, frozen=True):
    """`external` are tools of the client: shown to the model, never run here.

    `tools` are listed again for each call of the model, so tools may appear while the loop runs.
    The model can call `unlisted` ones, which it is not shown, but not `hidden` ones.
    `first_parameters` are for the first call only (`tool_choice` would make the loop endless).
    `requires_external` keeps them until an external tool is called; after the first call only
    external tools are listed then, because a model could call the others for ever instead.
    `recoveries` are tried in their order when the model fails, once in a run. `batch_seconds` is
    the time for all calls of one answer; `failed_turns` is after how many turns in a row whose
    calls all failed the run ends, 0 for never. Calls beside a text of the `dead_ends` are not made,
    and end it as well. What the `ledger` has is not done again; `is_resumed` if another process has
    begun the run. An application that plays the model shares the `taint`. What the `private` tools
    say is not logged. The model is asked with `marks_cache` and `chosen`. The `fitter` leaves out
    what is too much for the model; None: all is sent. `prompt` says what the system prompt is
    composed of.
    """

    model: Model
    name: str
    tools: Mapping[str, Tool]
    unlisted: Mapping[str, Tool] = {}
    hidden: Mapping[str, Tool] = {}
    external: Mapping[str, ToolSpec] = {}
    static_tools: Sequence[Mapping[str, Any]] = ()
    parameters: Mapping[str, Any] = {}
    first_parameters: Mapping[str, Any] = {}
    requires_external: bool = False
    view: Sequence[ViewStep] = ()
    results: Sequence[ResultStep] = ()
    recoveries: Sequence[Recovery] = ()
    max_iterations: int = 15
    show_stages: bool = True
    shows_logprobs: bool = False
    retries: RetryPolicy = msgspec.field(default_factory=RetryPolicy)
    batch_seconds: float | None = None
    failed_turns: int = 0
    dead_ends: DeadEnds = NO_DEAD_ENDS
    ledger: Ledger = NO_LEDGER
    is_resumed: bool = False
    taint: Taint | None = None
    private: Set[str] = frozenset()
    marks_cache: bool = False
    chosen: Set[str] = frozenset()
    fitter: ContextFitter | None = None
    prompt: Sequence[PromptSpan] = ()

    async def run(self, messages: Sequence[Message], emit: Emit, progress: Progress) -> str:
        """Answer `messages`, adding every new message to `progress`; return the finish reason.

        Unanswered calls at their end are made first. A run that waits for an answer of a person
        ends with `WAITING`; one that nobody keeps leaves the calls in `progress.waiting`.
        Raises `StepLimitReached`, `ToolsKeepFailing`, `ModelFailed`, `Stopped`, `LeaseLost`,
        `NotStored`.
        """
        progress.base = messages
        progress.rounds.most = self.max_iterations
        with DeferredStages() as deferred:
            if self.is_resumed:
                emit = Replay(emit, progress)
                deferred.callback(emit.end)
            reason = ""
            if calls := unanswered(messages):
                reason = await self.make_calls(self.turn(emit, progress, deferred), calls)
            while not reason:
                progress.rounds.take()
                progress.iterations += 1
                reason = await self.iterate(emit, progress, deferred)
            return reason

    async def iterate(self, emit: Emit, progress: Progress, deferred: DeferredStages) -> str:
        """Ask, and run the calls of the answer; the finish reason, "" to go on."""
        if self.ledger.is_kept:
            repeat_recovery(self.ledger, progress)
        original: ModelFailed | None = None
        while True:
            turn = self.turn(emit, progress, deferred)
            with turn.early:
                try:
                    reply = await self.reply(turn)
                except ModelFailed as failure:
                    if original is not None:
                        raise original from failure
                    if not await recover(self.recoveries, self.ledger, turn, failure):
                        raise
                    original = failure
                else:
                    return await self.act(turn, reply)

    def turn(self, emit: Emit, progress: Progress, deferred: DeferredStages) -> Turn:
        conversation = progress.conversation
        early = EarlyStages(self.announced, conversation, emit)
        return Turn(conversation, emit, progress, early, deferred)

    async def reply(self, turn: Turn) -> Reply:
        """The recorded answer, else the model's. Raises `ModelFailed`."""
        if not self.ledger.is_kept:
            return await self.ask(turn)
        if (recorded := repeat_reply(self.ledger, turn)) is not None:
            stay_with(self.model, recorded.deployment)
            return recorded
        end_replay(turn.emit)
        reply = await self.ask(turn)
        record_reply(self.ledger, turn.progress, reply)
        return reply

    async def ask(self, turn: Turn) -> Reply:
        """Raises `ModelFailed`."""
        progress = turn.progress
        request = await self.request(turn)
        assembly = self.assembly(turn)
        started = time.monotonic()
        try:
            await self.retries.receive(
                self.model, request, assembly, self.name, progress.iterations
            )
        finally:
            seconds = time.monotonic() - started
            progress.timings.append(Timing(assembly.deployment or self.name, seconds))
            progress.usage += assembly.spent(self.name)
            progress.say("".join(assembly.text))
        turn.deferred.close()
        reply = assembly.reply(self.name, call_ids(request.messages))
        reply = with_called_names(reply, self.callable)
        log_reply(reply, reply.deployment, progress.iterations, seconds, self.private)
        return reply

    async def request(self, turn: Turn) -> ModelRequest:
        is_first = turn.progress.iterations == 1
        first = self.first_parameters if is_first or self.requires_external else {}
        is_open = is_first or not self.requires_external
        own = [tool.spec for tool in self.tools.values()] if is_open else []
        specs = [*own, *self.external.values()]
        static = self.static_tools if is_open else ()
        messages = turn.conversation
        if self.fitter is not None:
            messages = await self.fitter.fit(turn, specs, static)
        for step in self.view:
            messages = await step(messages)
        log_messages(messages, self.private)
        return ModelRequest(
            messages,
            specs,
            {**self.parameters, **first},
            static,
            model_ledger(self.ledger, turn.progress),
            self.taint,
            self.marks_cache,
            turn.progress.meter,
            chosen=self.chosen | first.keys(),
            lists_static=is_open,
            prompt=self.prompt,
            private=self.private,
        )

    def assembly(self, turn: Turn) -> Assembly:
        progress = turn.progress
        again = "again-" if progress.has_recovered else ""
        prefix = f"model-{progress.iterations}-{again}"
        return Assembly(
            turn.emit,
            lead=progress.lead,
            stages=ModelStages(turn.emit, prefix) if self.show_stages else None,
            shown=progress.shown,
            early=turn.early,
            allowance=progress.allowance,
            shows_logprobs=self.shows_logprobs,
            taint=self.taint,
            names=self.callable,
        )

    @property
    def callable(self) -> Set[str]:
        """The names of the tools that the model may know."""
        return self.tools.keys() | self.unlisted.keys() | self.external.keys()

    async def act(self, turn: Turn, reply: Reply) -> str:
        """Keep the answer and make its calls; the finish reason, "" to go on."""
        if reply.finish_reason == WAITING:
            return WAITING
        for annotation in reply.annotations:
            turn.emit(AnnotationAdded(annotation))
        message = reply.message
        if not message.content:
            message = replace(message, content=NOTHING)
        if message.tool_calls:
            if self.dead_ends.include(message):
                return keep_uncalled(turn.progress, message)
            return await self.make_calls(turn, message.tool_calls, message)
        turn.progress.added.append(message)
        return reply.finish_reason

    async def make_calls(
        self, turn: Turn, calls: Sequence[ToolCall], message: Message | None = None
    ) -> str:
        """Run our calls and hand the client its own; the finish reason, "" to go on.

        `message` has the calls, None if it is in the conversation already.
        """
        external = tuple(call for call in calls if self.is_for_client(call))
        internal = tuple(call for call in calls if not self.is_for_client(call))
        outcomes: Sequence[ToolOutcome] = ()
        if internal:
            asking = () if message is None else (message,)
            turn.progress.tool_calls += len(internal)
            batch = self.batch(turn, internal, *asking)
            outcomes = await batch.run()
            if is_waiting := waits(outcomes):
                batch.ask(outcomes)
                if self.ledger.is_kept:
                    return WAITING
                internal, outcomes, waiting = parted(internal, outcomes)
                asker = last_calling((*turn.conversation, *asking))
                left = replace(asker, content=NOTHING, tool_calls=(*waiting, *external))
                turn.progress.waiting = left
            if internal:
                turn.progress.added += [replace(one, tool_calls=internal) for one in asking]
            self.keep_results(turn, internal, outcomes)
            if is_waiting:
                return WAITING
        if not external:
            return end_turn(turn, outcomes)
        for call in external:
            report = ToolCallReport(call.name, turn.progress.iterations, None, "client")
            turn.progress.meter.tool_called(report)
        turn.emit(ToolCallsRequested(external))
        return "tool_calls"

    def batch(self, turn: Turn, calls: Sequence[ToolCall], *asking: Message) -> ToolBatch:
        """`asking` is the message with the calls, if the conversation does not have it yet."""
        static = static_names(self.static_tools)
        log_refused_calls(calls, self.callable, self.hidden.keys(), static)
        return ToolBatch(
            ToolSteps(self.ledger, turn.progress.iterations, calls),
            turn,
            (*turn.conversation, *asking),
            self.find_tool,
            self.refuse,
            self.results,
            self.batch_seconds,
        )

    def keep_results(
        self, turn: Turn, calls: Sequence[ToolCall], outcomes: Sequence[ToolOutcome]
    ) -> None:
        """Keep the results and show what goes with them. Raises `Stopped`, `ToolsKeepFailing`."""
        progress = turn.progress
        for call, outcome in zip(calls, outcomes, strict=True):
            result = outcome.result
            progress.added.append(result_message(call, result))
            progress.usage += result.usage
            show_files(result, turn)
            for annotation in result.annotations:
                turn.emit(AnnotationAdded(annotation))
        for outcome in reversed(outcomes):
            if outcome.stopped is not None:
                raise outcome.stopped
        progress.failed_turns = progress.failed_turns + 1 if all_failed(outcomes) else 0
        if 0 < self.failed_turns <= progress.failed_turns:
            raise ToolsKeepFailing(progress.failed_turns)

    def is_for_client(self, call: ToolCall) -> bool:
        """Return whether the client can make the call: with unreadable arguments nobody can."""
        return call.name in self.external and not argument_problem(call)

    def refuse(self, call: ToolCall) -> ToolResult:
        if call.name in self.external:
            return ToolResult(argument_problem(call))
        static = static_names(self.static_tools)
        return refusal(call.name, self.hidden, static, (*self.tools, *self.external))

    def find_tool(self, name: str) -> Tool | None:
        return self.tools.get(name) or self.unlisted.get(name)

    def announced(self, name: str) -> Announcement | None:
        tool = None if name in self.external else self.find_tool(name)
        return tool.announcement if tool is not None else None
