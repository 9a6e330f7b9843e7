"""Executes the tool calls of one answer concurrently."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

from apps.agent.calls import UNEXPECTED, ToolOutcome, call_tool, failure_result
from apps.agent.events import ModelUsage
from apps.agent.ledger import InteractionKind
from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.meter import Location, ToolCallReport
from apps.agent.progress import CallTiming, Turn
from apps.agent.records import describe_size, log_payload
from apps.agent.steps.replay import end_replay
from apps.agent.steps.tool_steps import ToolSteps
from apps.agent.time_limits import time_limit
from apps.agent.tools import Invocation, PendingResult, ResultStep, Spend, Tool, ToolResult
from apps.agent.turn_stages import EarlyStage
from apps.errors import ToolTimedOut


@dataclass(frozen=True, slots=True)
class ToolBatch:
    steps: ToolSteps
    turn: Turn
    conversation: Sequence[ModelMessage]
    find: Callable[[str], Tool | None]
    """The function that returns the tool with a given name, or None."""
    refuse: Callable[[ToolCall], ToolResult]
    """The function that returns the error for a call to an unknown tool."""
    results: Sequence[ResultStep]
    seconds: float | None = None
    """The timeout for the whole batch, or None."""

    @property
    def is_kept(self) -> bool:
        return self.steps.ledger.is_kept

    async def run(self) -> list[ToolOutcome]:
        """Return the outcomes in the order of the calls. Raises `LeaseLost` or `NotStored`."""
        outcomes = self.repeat() if self.is_kept else {}
        indexes = range(len(self.steps.calls))
        if missing := [index for index in indexes if index not in outcomes]:
            end_replay(self.turn.emit)
            outcomes |= await self.make(missing)
        return [outcomes[index] for index in indexes]

    def repeat(self) -> dict[int, ToolOutcome]:
        """Return the recorded outcomes by call index."""
        recorded = self.steps.recorded()
        for one in recorded.values():
            self.turn.progress.usage += one.spent
            self.turn.progress.counts.rounds.count(one.result.rounds)
        return {index: one.outcome for index, one in recorded.items()}

    async def make(self, indexes: Sequence[int]) -> dict[int, ToolOutcome]:
        tasks: dict[int, asyncio.Task[ToolOutcome]] = {}
        late: set[int] = set()
        try:
            async with asyncio.TaskGroup() as group:
                try:
                    async with time_limit(self.seconds):
                        tasks = {index: group.create_task(self.call(index)) for index in indexes}
                        await asyncio.wait(tasks.values())
                except TimeoutError:
                    late = {index for index, task in tasks.items() if not task.done()}
                    for index in late:
                        tasks[index].cancel()
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return {
            index: self.cancelled(index, is_late=index in late)
            if task.cancelled()
            else task.result()
            for index, task in tasks.items()
        }

    def cancelled(self, index: int, *, is_late: bool) -> ToolOutcome:
        # A tool that cancels itself has failed, but the run continues.
        outcome = ToolOutcome(UNEXPECTED)
        if is_late and self.seconds is not None:
            error = ToolTimedOut(self.steps.calls[index].name, self.seconds)
            outcome = ToolOutcome(failure_result(error), "call", str(error), tool_failed=True)
        if self.is_kept:
            self.steps.end(index, outcome)
        return outcome

    async def call(self, index: int) -> ToolOutcome:
        """Execute one call. If the call fails, return the error for the model; the other calls
        continue.
        """
        call, progress = self.steps.calls[index], self.turn.progress
        tool = self.find(call.name)
        shown = describe_size if tool is not None and tool.is_private else str
        log_payload(f"arguments of {call.name}", lambda: shown(call.arguments))
        spent: list[ModelUsage] = []
        with self.turn.early.claim(call) as early:
            if tool is None:
                refused = self.refuse(call)
                outcome = ToolOutcome(refused, "open", refused.content, tool_failed=True)
            else:
                if self.is_kept:
                    await self.steps.begin(index, is_repeatable=tool.is_repeatable)
                invocation = self.invocation(index, early, spent.extend)
                started = time.monotonic()
                try:
                    outcome = await call_tool(tool, call, invocation, self.results)
                except BaseException:  # the run is no longer waiting for it
                    self.report(index, time.monotonic() - started, has_failed=True)
                    raise
                finally:
                    progress.usage += spent
                if not isinstance(outcome.result, PendingResult):
                    is_client = "client_tool" in invocation.answers
                    seconds = None if is_client else outcome.seconds
                    has_failed = outcome.failed is not None
                    self.report(index, seconds, has_failed=has_failed, is_client=is_client)
        if outcome.seconds is not None:
            progress.timings.append(CallTiming(call.name, outcome.seconds, is_tool=True))
        log_payload(f"result of {call.name}", lambda: shown(outcome.result.content))
        if not self.is_kept:
            return answerable(outcome, self.steps.ledger.can_ask)
        self.steps.end(index, outcome, spent)
        return outcome

    def report(
        self, index: int, seconds: float | None, *, has_failed: bool, is_client: bool = False
    ) -> None:
        name, progress = self.steps.calls[index].name, self.turn.progress
        where: Location = "client" if is_client else "server"
        report = ToolCallReport(name, progress.counts.iterations, seconds, where, has_failed)
        progress.meter.tool_called(report)

    def invocation(self, index: int, early: EarlyStage | None, spend: Spend) -> Invocation:
        steps = self.steps
        begin = partial(
            Invocation,
            steps.calls[index].id,
            messages=self.conversation,
            emit=self.turn.emit,
            early=early,
            defer=self.turn.deferred.keep,
            spend=spend,
        )
        if not steps.ledger.can_ask:
            return begin()
        return begin(ledger=steps.ledger, key=steps.key(index), answers=steps.answers(index))

    def ask(self, outcomes: Sequence[ToolOutcome]) -> None:
        """Ask the user the questions of all waiting calls, or of the first one if the run is not
        stored.
        """
        for index, outcome in enumerate(outcomes):
            if isinstance(outcome.result, PendingResult):
                self.steps.ask(index, outcome.result, self.turn.emit)
                if not self.is_kept:
                    return


def answerable(outcome: ToolOutcome, can_ask: Set[InteractionKind]) -> ToolOutcome:
    """Return the outcome, or an error if the call is waiting for a user and the run cannot ask
    questions of this kind.
    """
    if not isinstance(outcome.result, PendingResult):
        return outcome
    kinds = {one.kind for one in outcome.result.interactions}
    if kinds and kinds <= can_ask:
        return outcome
    text = outcome.result.content
    return replace(outcome, result=ToolResult(text), failed="call", error=text)


def waits(outcomes: Sequence[ToolOutcome]) -> bool:
    """Return True if the run must wait: a result is missing, and no other result ends the run."""
    is_stopped = any(outcome.stopped is not None for outcome in outcomes)
    return not is_stopped and any(isinstance(one.result, PendingResult) for one in outcomes)


def all_failed(outcomes: Sequence[ToolOutcome]) -> bool:
    """Return True if there were calls and all of them failed."""
    return bool(outcomes) and all(one.tool_failed for one in outcomes)


def part_calls(
    calls: Sequence[ToolCall], outcomes: Sequence[ToolOutcome]
) -> tuple[tuple[ToolCall, ...], list[ToolOutcome], tuple[ToolCall, ...]]:
    """Split the calls. Return the calls with results, their outcomes, and the calls that are
    waiting for a user.
    """
    both = list(zip(calls, outcomes, strict=True))
    made = [pair for pair in both if not isinstance(pair[1].result, PendingResult)]
    waiting = tuple(call for call, one in both if isinstance(one.result, PendingResult))
    return tuple(call for call, _ in made), [one for _, one in made], waiting
