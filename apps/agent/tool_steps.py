"""The calls of one answer as steps of a ledger, and what they ask people."""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from apps.agent.calls import ToolOutcome
from apps.agent.events import Emit, InteractionRequested, ModelUsage
from apps.agent.ledger import Interaction, InteractionKind, Ledger, Policy, Step, whole_key
from apps.agent.messages import ToolCall
from apps.agent.step_results import RecordedOutcome, read_outcome, write_outcome
from apps.agent.tools import Pending, ToolResult

INTERRUPTED = ToolResult(
    "Error: the process that ran this tool ended before there was a result. The tool may have been "
    "carried out all the same: check that before you call it again."
)
KINDS: tuple[InteractionKind, ...] = get_args(InteractionKind)
ID_CHARACTERS = 64
"""Of a call's id in the key of its step: models write ids of any length."""
_unsafe = re.compile(r"[^\w.:-]", re.ASCII)


@dataclass(frozen=True, slots=True)
class ToolSteps:
    """The steps of the calls of the model's answer number `turn`; a `place` is that of a call."""

    ledger: Ledger
    turn: int
    calls: Sequence[ToolCall]

    def key(self, place: int) -> str:
        # The place is in it because models use ids again.
        id = _unsafe.sub("_", self.calls[place].id)[:ID_CHARACTERS]
        return f"t:{self.turn}:{place}:{id}"

    async def begin(self, place: int, *, is_repeatable: bool) -> None:
        """Note that the call begins. If it must not be made twice, wait until that is durable.

        Raises `LeaseLost`, `NotStored`.
        """
        policy: Policy = "repeat" if is_repeatable else "never"
        self.ledger.record(Step(self.key(place), "tool", "begun", policy))
        if not is_repeatable:
            await self.ledger.flush()

    def end(self, place: int, outcome: ToolOutcome, spent: Sequence[ModelUsage] = ()) -> None:
        key = self.key(place)
        if isinstance(outcome.result, Pending):  # it only asked, so it may be made again
            self.ledger.record(Step(key, "tool", "begun"))
        else:
            self.ledger.record(Step(key, "tool", "done", result=write_outcome(outcome, spent)))

    def recorded(self) -> dict[int, RecordedOutcome]:
        """By their places, the outcomes of calls that are not to be made now."""
        found = {place: self.recorded_outcome(place) for place in range(len(self.calls))}
        return {place: outcome for place, outcome in found.items() if outcome is not None}

    def recorded_outcome(self, place: int) -> RecordedOutcome | None:
        step = self.ledger.step(self.key(place))
        if step is None:
            return None
        if step.status != "begun":
            return read_outcome(step.result)
        if step.policy == "never":
            return self.give_up(place)
        asked = list(self.interactions(place))
        is_open = bool(asked) and all(one.answer is None for one in asked)
        return RecordedOutcome(Pending()) if is_open else None

    def give_up(self, place: int) -> RecordedOutcome:
        """Tell the model, and nobody else ever, that it is not known how the call went."""
        result = write_outcome(ToolOutcome(INTERRUPTED, "call", INTERRUPTED.content))
        self.ledger.record(Step(self.key(place), "tool", "unknown", "never", result))
        return read_outcome(result)

    def interactions(self, place: int) -> Iterator[Interaction]:
        """What the call has asked so far, answered or not."""
        key = self.key(place)
        for kind in KINDS:
            interaction = self.ledger.interaction(key, kind)
            if interaction is not None:
                yield interaction

    def answers(self, place: int) -> Mapping[InteractionKind, Interaction]:
        return {one.kind: one for one in self.interactions(place) if one.answer is not None}

    def ask(self, place: int, pending: Pending, emit: Emit) -> None:
        """Ask people what the call has not asked yet; what is open stays asked, and untold."""
        key, asked = self.key(place), set[InteractionKind]()
        for one in self.interactions(place):
            asked.add(one.kind)
            if one.answer is None:
                self.ledger.ask(replace(one, key=key))
        for one in pending.interactions:
            if one.kind not in asked:
                self.ledger.ask(replace(one, key=key))
                whole = replace(one, key=whole_key(self.ledger, key))
                due = None if one.seconds is None else time.time() + one.seconds
                emit(InteractionRequested(whole, due))
