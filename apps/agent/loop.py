"""Implements the agent loop: it calls the model, executes the tools that the model calls, and
repeats this until the model answers.

Limits, approvals, retries and display are in wrappers and steps, so that new features do not change
this module.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Sequence, Set
from dataclasses import replace

import msgspec

from apps.agent.answers.assembly import Assembly
from apps.agent.answers.model_fallbacks import stay_with
from apps.agent.answers.replies import call_ids
from apps.agent.answers.tool_calls import with_called_names
from apps.agent.calls import (
    ToolOutcome,
    result_message,
)
from apps.agent.ended_turns import NOTHING, end_turn, keep_uncalled
from apps.agent.events import AnnotationAdded, Emit, ToolCallsRequested
from apps.agent.ledger import NO_LEDGER, WAITING, Ledger, ledger_within
from apps.agent.loop_options import (
    LoopDisplay,
    LoopLimits,
    LoopSteps,
    LoopTools,
    RequestOptions,
)
from apps.agent.messages import ModelMessage, ToolCall, last_calling, unanswered_calls
from apps.agent.meter import ToolCallReport
from apps.agent.model import Model, ModelRequest, Reply
from apps.agent.progress import CallTiming, Progress, Turn, show_files
from apps.agent.records import log_messages, log_refused_calls, log_reply
from apps.agent.recovery import recover
from apps.agent.steps.replay import (
    Replay,
    end_replay,
    record_reply,
    repeat_recovery,
    repeat_reply,
)
from apps.agent.steps.tool_steps import ToolSteps
from apps.agent.taint import Taint
from apps.agent.tool_batch import ToolBatch, all_failed, part_calls, waits
from apps.agent.turn_stages import DeferredStages, EarlyStages, ModelStages
from apps.errors import ModelFailed, ToolsKeepFailing


class AgentLoop(msgspec.Struct, frozen=True):
    """Executes one run."""

    model: Model
    name: str
    """The ID of the model's deployment."""
    tools: LoopTools
    request_options: RequestOptions = RequestOptions()
    steps: LoopSteps = LoopSteps()
    limits: LoopLimits = LoopLimits()
    display: LoopDisplay = LoopDisplay()
    ledger: Ledger = NO_LEDGER
    """The recorded steps of the run, which are not repeated."""
    is_resumed: bool = False
    """True if another process began the run."""
    taint: Taint | None = None
    """The untrusted sources that the outer run has read, if that run uses this application as its
    model.
    """

    @property
    def callable(self) -> Set[str]:
        """Return the names of the tools that the model can call."""
        tools = self.tools
        return tools.listed.keys() | tools.unlisted.keys() | tools.external.keys()

    async def run(self, messages: Sequence[ModelMessage], emit: Emit, progress: Progress) -> str:
        """Answer `messages`, add all new messages to `progress`, and return the finish reason. Tool
        calls without results at the end of `messages` are executed first.

        The finish reason is `WAITING` if the run is waiting for a user. If the run is not stored,
        the waiting calls are then in `progress.conversation.waiting`.

        Raises `StepLimitReached`, `ToolsKeepFailing`, `ModelFailed`, `Stopped`, `LeaseLost` or
        `NotStored`.
        """
        progress.conversation.base = messages
        progress.counts.rounds.most = self.limits.iterations
        with DeferredStages() as deferred:
            if self.is_resumed:
                emit = Replay(emit, progress)
                deferred.call_at_end(emit.end)
            reason = ""
            if calls := unanswered_calls(messages):
                reason = await self.make_calls(self.turn(emit, progress, deferred), calls)
            while not reason:
                progress.counts.rounds.take()
                progress.counts.iterations += 1
                reason = await self.iterate(emit, progress, deferred)
            return reason

    async def iterate(self, emit: Emit, progress: Progress, deferred: DeferredStages) -> str:
        """Call the model, and execute its tool calls. Return the finish reason, or "" if the run
        continues.
        """
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
                    if not await recover(self.steps.recoveries, self.ledger, turn, failure):
                        raise
                    original = failure
                else:
                    return await self.act(turn, reply)

    def turn(self, emit: Emit, progress: Progress, deferred: DeferredStages) -> Turn:
        conversation = progress.conversation.messages
        early = EarlyStages(self.tools.announcement, conversation, emit)
        return Turn(conversation, emit, progress, early, deferred)

    def reply(self, turn: Turn) -> Awaitable[Reply]:
        """Return this turn's recorded answer, or call the model if there is none. Raises
        `ModelFailed`.
        """
        return self.recorded_reply(turn) if self.ledger.is_kept else self.ask(turn)

    async def recorded_reply(self, turn: Turn) -> Reply:
        if (recorded := repeat_reply(self.ledger, turn)) is not None:
            stay_with(self.model, recorded.deployment)
            return recorded
        end_replay(turn.emit)
        reply = await self.ask(turn)
        record_reply(self.ledger, turn.progress, reply)
        return reply

    async def ask(self, turn: Turn) -> Reply:
        """Call the model and return its answer. Raises `ModelFailed`."""
        progress = turn.progress
        request = await self.request(turn)
        assembly = self.assembly(turn)
        started = time.monotonic()
        try:
            await self.limits.retries.receive(
                self.model, request, assembly, self.name, progress.counts.iterations
            )
        finally:
            seconds = time.monotonic() - started
            progress.timings.append(CallTiming(assembly.deployment or self.name, seconds))
            progress.usage += assembly.spent(self.name)
            progress.answer.say("".join(assembly.text))
        turn.deferred.close()
        reply = assembly.reply(self.name, call_ids(request.messages))
        if reply.message.tool_calls:
            reply = with_called_names(reply, self.callable)
        log_reply(reply, reply.deployment, progress.counts.iterations, seconds, self.tools.private)
        return reply

    async def request(self, turn: Turn) -> ModelRequest:
        options, tools = self.request_options, self.tools
        is_first = turn.progress.counts.iterations == 1
        first = options.first_parameters if is_first or options.requires_external else {}
        is_open = is_first or not options.requires_external
        own = [tool.spec for tool in tools.listed.values()] if is_open else []
        specs = [*own, *tools.external.values()]
        static = tools.static if is_open else ()
        messages = turn.conversation
        if self.steps.fitter is not None:
            messages = await self.steps.fitter.fit(turn, specs, static)
        for step in self.steps.view:
            messages = await step(messages)
        log_messages(messages, tools.private)
        return ModelRequest(
            messages,
            specs,
            {**options.parameters, **first},
            static,
            self.model_ledger(turn.progress),
            self.taint,
            options.marks_cache,
            turn.progress.meter,
            chosen=options.chosen | first.keys(),
            lists_static=is_open,
            prompt=options.prompt,
            private=tools.private,
        )

    def model_ledger(self, progress: Progress) -> Ledger:
        """Return the ledger for a nested run, in case the model is an application."""
        if not self.ledger.is_kept:
            return NO_LEDGER
        # After a recovery, the application gets different messages, so it starts over.
        again = ":again" if progress.conversation.has_recovered else ""
        return ledger_within(self.ledger, f"m:{progress.counts.iterations}{again}")

    def assembly(self, turn: Turn) -> Assembly:
        progress = turn.progress
        again = "again-" if progress.conversation.has_recovered else ""
        prefix = f"model-{progress.counts.iterations}-{again}"
        return Assembly(
            turn.emit,
            answer=progress.answer,
            stages=ModelStages(turn.emit, prefix) if self.display.stages else None,
            early=turn.early,
            shows_logprobs=self.display.logprobs,
            taint=self.taint,
            names=self.callable,
        )

    async def act(self, turn: Turn, reply: Reply) -> str:
        """Add the answer to the conversation, and execute its tool calls. Return the finish reason,
        or "" if the run continues.
        """
        if reply.finish_reason == WAITING:
            return WAITING
        for annotation in reply.annotations:
            turn.emit(AnnotationAdded(annotation))
        message = reply.message
        if not message.content:
            message = replace(message, content=NOTHING)
        if message.tool_calls:
            if self.limits.dead_ends.include(message):
                return keep_uncalled(turn.progress, message)
            return await self.make_calls(turn, message.tool_calls, message)
        turn.progress.conversation.added.append(message)
        return reply.finish_reason

    async def make_calls(
        self, turn: Turn, calls: Sequence[ToolCall], message: ModelMessage | None = None
    ) -> str:
        """Execute the calls to the platform's tools, and forward the others to the client. Return
        the finish reason, or "" if the run continues.

        `message` is the message with the calls, or None if it is already in the conversation.
        """
        external = tuple(call for call in calls if self.tools.is_for_client(call))
        internal = tuple(call for call in calls if not self.tools.is_for_client(call))
        outcomes: Sequence[ToolOutcome] = ()
        if internal:
            asking = () if message is None else (message,)
            turn.progress.counts.tool_calls += len(internal)
            batch = self.batch(turn, internal, *asking)
            outcomes = await batch.run()
            if is_waiting := waits(outcomes):
                batch.ask(outcomes)
                if self.ledger.is_kept:
                    return WAITING
                internal, outcomes, waiting = part_calls(internal, outcomes)
                asker = last_calling((*turn.conversation, *asking))
                left = replace(asker, content=NOTHING, tool_calls=(*waiting, *external))
                turn.progress.conversation.waiting = left
            if internal:
                turn.progress.conversation.added += [
                    one if one.tool_calls == internal else replace(one, tool_calls=internal)
                    for one in asking
                ]
            self.keep_results(turn, internal, outcomes)
            if is_waiting:
                return WAITING
        if not external:
            return end_turn(turn, outcomes)
        for call in external:
            report = ToolCallReport(call.name, turn.progress.counts.iterations, None, "client")
            turn.progress.meter.tool_called(report)
        turn.emit(ToolCallsRequested(external, self.tools.text_tools))
        return "tool_calls"

    def batch(self, turn: Turn, calls: Sequence[ToolCall], *asking: ModelMessage) -> ToolBatch:
        """Return a batch that executes these calls. `asking` contains the message with the calls,
        unless it is already in the conversation.
        """
        tools = self.tools
        log_refused_calls(calls, self.callable, tools.hidden.keys(), tools.static_names)
        return ToolBatch(
            ToolSteps(self.ledger, turn.progress.counts.iterations, calls),
            turn,
            (*turn.conversation, *asking),
            tools.find,
            tools.refuse,
            self.steps.results,
            self.limits.batch_seconds,
        )

    def keep_results(
        self, turn: Turn, calls: Sequence[ToolCall], outcomes: Sequence[ToolOutcome]
    ) -> None:
        """Add the results of tool calls to the conversation, and show their files and citations.
        Raises `Stopped` or `ToolsKeepFailing`.
        """
        progress = turn.progress
        for call, outcome in zip(calls, outcomes, strict=True):
            result = outcome.result
            progress.conversation.added.append(result_message(call, result))
            progress.usage += result.usage
            show_files(result, progress.answer, turn.emit)
            for annotation in result.annotations:
                turn.emit(AnnotationAdded(annotation))
        for outcome in reversed(outcomes):
            if outcome.stopped is not None:
                raise outcome.stopped
        progress.counts.failed_turns = (
            progress.counts.failed_turns + 1 if all_failed(outcomes) else 0
        )
        if 0 < self.limits.failed_turns <= progress.counts.failed_turns:
            raise ToolsKeepFailing(progress.counts.failed_turns)
