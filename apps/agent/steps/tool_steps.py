"""Records the tool calls of one answer as steps, and asks users the questions that these calls
raise.
"""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from apps.agent.calls import ToolOutcome
from apps.agent.events import Emit, InteractionRequested, ModelUsage
from apps.agent.ledger import InteractionKind, InteractionRequest, Ledger, Policy, Step, whole_key
from apps.agent.messages import ToolCall
from apps.agent.steps.results import RecordedOutcome, read_outcome, write_outcome
from apps.agent.tools import PendingResult, ToolResult

INTERRUPTED = ToolResult(
    "Error: the process that ran this tool ended before there was a result. The tool may still have "
    "had its effect. Check that before you call it again."
)
KINDS: tuple[InteractionKind, ...] = get_args(InteractionKind)
ID_CHARACTERS = 64
"""Call IDs are truncated to this many characters in step keys, because models write IDs of any
length.
"""
_unsafe = re.compile(r"[^\w.:-]", re.ASCII)


@dataclass(frozen=True, slots=True)
class ToolSteps:
    """The steps for the tool calls in the model's answer with the number `turn`. Calls are
    identified by their index, because models reuse IDs.
    """

    ledger: Ledger
    turn: int
    calls: Sequence[ToolCall]

    def key(self, index: int) -> str:
        id = _unsafe.sub("_", self.calls[index].id)[:ID_CHARACTERS]
        return f"t:{self.turn}:{index}:{id}"

    async def begin(self, index: int, *, is_repeatable: bool) -> None:
        """Record the start of a call. If the call must not be repeated, wait until the record is
        stored. Raises `LeaseLost` or `NotStored`.
        """
        policy: Policy = "repeat" if is_repeatable else "never"
        self.ledger.record(Step(self.key(index), "tool", "begun", policy))
        if not is_repeatable:
            await self.ledger.flush()

    def end(self, index: int, outcome: ToolOutcome, spent: Sequence[ModelUsage] = ()) -> None:
        key = self.key(index)
        if isinstance(outcome.result, PendingResult):  # it only asked, so call again
            self.ledger.record(Step(key, "tool", "begun"))
        else:
            self.ledger.record(Step(key, "tool", "done", result=write_outcome(outcome, spent)))

    def recorded(self) -> dict[int, RecordedOutcome]:
        """Return the recorded outcomes of calls that need not be executed again, by call index."""
        found = {index: self.recorded_outcome(index) for index in range(len(self.calls))}
        return {index: outcome for index, outcome in found.items() if outcome is not None}

    def recorded_outcome(self, index: int) -> RecordedOutcome | None:
        step = self.ledger.step(self.key(index))
        if step is None:
            return None
        if step.status != "begun":
            return read_outcome(step.result)
        if step.policy == "never":
            return self.give_up(index)
        asked = list(self.interactions(index))
        is_open = bool(asked) and all(one.answer is None for one in asked)
        return RecordedOutcome(PendingResult()) if is_open else None

    def give_up(self, index: int) -> RecordedOutcome:
        """Record that the outcome of the call is unknown, and return an error for the model."""
        result = write_outcome(ToolOutcome(INTERRUPTED, "call", INTERRUPTED.content))
        self.ledger.record(Step(self.key(index), "tool", "unknown", "never", result))
        return read_outcome(result)

    def interactions(self, index: int) -> Iterator[InteractionRequest]:
        """Yield the questions that the call has asked so far, answered or not."""
        key = self.key(index)
        for kind in KINDS:
            interaction = self.ledger.interaction(key, kind)
            if interaction is not None:
                yield interaction

    def answers(self, index: int) -> Mapping[InteractionKind, InteractionRequest]:
        return {one.kind: one for one in self.interactions(index) if one.answer is not None}

    def ask(self, index: int, pending: PendingResult, emit: Emit) -> None:
        """Ask the user the call's new questions. Questions that are already open are not emitted
        again.
        """
        key, asked = self.key(index), set[InteractionKind]()
        for one in self.interactions(index):
            asked.add(one.kind)
            if one.answer is None:
                self.ledger.ask(replace(one, key=key))
        for one in pending.interactions:
            if one.kind not in asked:
                self.ledger.ask(replace(one, key=key))
                whole = replace(one, key=whole_key(self.ledger, key))
                due = None if one.seconds is None else time.time() + one.seconds
                emit(InteractionRequested(whole, due))
