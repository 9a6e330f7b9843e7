"""Defines the state of a run while it is executed."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from apps.agent.context.fitter import ContextFitter
from apps.agent.events import Emit, ModelUsage
from apps.agent.messages import ModelMessage
from apps.agent.meter import NO_METER, Meter
from apps.agent.run_answer import Rounds, RunAnswer
from apps.agent.stages import DeferredStages, EarlyStages


class CallTiming(msgspec.Struct, frozen=True):
    name: str
    seconds: float
    is_tool: bool = False


@dataclass(slots=True)
class RunConversation:
    """The conversation that a run continues, and the messages that the run has added."""

    base: Sequence[ModelMessage] = ()
    """The messages before the run. If the run recovers from a failure, they are rewritten."""
    added: list[ModelMessage] = field(default_factory=list)
    has_recovered: bool = False
    waiting: ModelMessage | None = None
    """The message with the tool calls that the client's next request executes. The first of these
    calls waits for the user's answer. `waiting` is None if the run is stored.
    """

    @property
    def messages(self) -> tuple[ModelMessage, ...]:
        return (*self.base, *self.added)

    def recover(self, rewritten: Sequence[ModelMessage]) -> None:
        self.has_recovered = True
        self.base = rewritten
        self.added.clear()


@dataclass(slots=True)
class RunCounts:
    """The counts of a run's model calls and tool calls."""

    iterations: int = 0
    tool_calls: int = 0
    failed_turns: int = 0
    """The number of consecutive turns so far in which every call failed."""
    rounds: Rounds = field(default_factory=Rounds)
    """The model calls that count toward the limit of iterations, including those of sub-agents."""


@dataclass(slots=True)
class Progress:
    """The results of a run so far. If the run fails, they still exist, so that its state can be
    saved.
    """

    conversation: RunConversation = field(default_factory=RunConversation)
    answer: RunAnswer = field(default_factory=RunAnswer)
    counts: RunCounts = field(default_factory=RunCounts)
    usage: list[ModelUsage] = field(default_factory=list)
    timings: list[CallTiming] = field(default_factory=list)
    """The durations of all calls, in the order in which the calls ended."""
    meter: Meter = NO_METER
    fitter: ContextFitter | None = None
    """Fits the conversation into the context window. It is None until the model is known."""


class Turn(msgspec.Struct, frozen=True):
    """One model call, with the tool calls that it requests."""

    conversation: Sequence[ModelMessage]
    emit: Emit
    progress: Progress
    early: EarlyStages
    deferred: DeferredStages
    """The stages that stay open until the model's next answer is complete."""
