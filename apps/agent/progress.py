"""The results of a run so far, and the surroundings of one call of its model."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from apps.agent.allowance import Allowance
from apps.agent.context_fitter import ContextFitter
from apps.agent.early_stages import EarlyStages
from apps.agent.events import Emit, ModelUsage
from apps.agent.messages import Message
from apps.agent.meter import NO_METER, Meter
from apps.agent.rounds import Rounds
from apps.agent.stages import DeferredStages

BETWEEN_TEXTS = "\n\n"


class Timing(msgspec.Struct, frozen=True):
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
    rounds: Rounds = field(default_factory=Rounds)
    """What counts against the limit of `iterations`: these, and those of helpers."""
    tool_calls: int = 0
    failed_turns: int = 0
    """How many of the newest turns had calls that failed, and no others."""
    said: list[str] = field(default_factory=list)
    """The texts that the answer consists of, without empty ones."""
    has_recovered: bool = False
    allowance: Allowance = field(default_factory=Allowance)
    shown: set[str] = field(default_factory=set)
    """URLs of the attachments that the answer already has."""
    timings: list[Timing] = field(default_factory=list)
    """Of all calls, in the order in which they ended."""
    waiting: Message | None = None
    """The calls that the next request goes on with, the one that asks somebody first; in a run that
    nobody keeps."""
    meter: Meter = NO_METER
    fitter: ContextFitter | None = None
    """What is left out of the requests; None until the model is known."""

    @property
    def conversation(self) -> tuple[Message, ...]:
        return (*self.base, *self.added)

    @property
    def lead(self) -> str:
        """What separates the next text of the answer from the earlier ones."""
        return BETWEEN_TEXTS if self.said else ""

    @property
    def text(self) -> str:
        """The answer as a person reads it."""
        return BETWEEN_TEXTS.join(self.said)

    def say(self, text: str) -> None:
        if text:
            self.said.append(text)


class Turn(msgspec.Struct, frozen=True):
    """One call of the model, and of the tools that it then asks for."""

    conversation: Sequence[Message]
    emit: Emit
    progress: Progress
    early: EarlyStages
    deferred: DeferredStages
    """Stages that stay open until the model's next answer is complete."""
