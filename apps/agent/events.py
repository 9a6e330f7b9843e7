"""Everything a run can say while it works.

The doors translate these events; nothing else leaves the core. A new event is a new class here
plus one `case` in each encoder: the type checker finds those, the page's scripts it does not read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from apps.agent.messages import Attachment, ToolCall


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """Tokens that one model took in and gave out.

    Of those taken in, `cached` were read from the service's cache and `created` written to it; of
    those given out, `reasoning` were for thinking. None where the service did not tell.
    """

    model: str
    input: int
    output: int
    cached: int | None = None
    created: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens spent, counted as in `ModelUsage`.

    `per_model` has one entry for each deployment that answered. As a model's delta it may have
    none, and stands for that model; an entry without a name does as well.
    """

    input: int = 0
    output: int = 0
    per_model: tuple[ModelUsage, ...] = ()
    cached: int | None = None
    created: int | None = None
    reasoning: int | None = None


class TextDelta(msgspec.Struct, frozen=True, gc=False):
    """A struct, because there is one for each token: a frozen dataclass takes five times as long.

    `logprobs` are the service's, of the tokens of the text; None unless the client asked for them.
    """

    text: str
    logprobs: Mapping[str, Any] | None = None


class RefusalDelta(msgspec.Struct, frozen=True, gc=False):
    """What the model says in place of an answer that it does not give."""

    text: str


class Reasoning(msgspec.Struct, frozen=True, gc=False):
    """A token of what the model thinks, never part of the answer; it continues an open stage."""

    stage_id: str
    text: str


@dataclass(frozen=True, slots=True)
class StageOpened:
    """One that `is_reasoning` shows what the model of the run thinks, as `Reasoning`."""

    stage_id: str
    title: str
    parent_id: str | None = None
    is_reasoning: bool = False


@dataclass(frozen=True, slots=True)
class StageRenamed:
    """`suffix` is appended to the title, as DIAL's stage names concatenate."""

    stage_id: str
    suffix: str


@dataclass(frozen=True, slots=True)
class StageDelta:
    """`text` is Markdown and continues what the stage has shown so far."""

    stage_id: str
    text: str


@dataclass(frozen=True, slots=True)
class StageAttachment:
    stage_id: str
    attachment: Attachment


@dataclass(frozen=True, slots=True)
class StageClosed:
    """One that `is_timed` tells clients that show titles alone how long it took.

    A stage has `failed` where its failure went on to others. It is `excused` where a strategy made a
    result of it: programs read that it completed, people that it failed.
    """

    stage_id: str
    seconds: float
    failed: bool = False
    is_timed: bool = field(default=False, compare=False)
    excused: bool = False

    @property
    def reads_failed(self) -> bool:
        """Whether people are told that it failed."""
        return self.failed or self.excused

    @property
    def time(self) -> str:
        """The end of the title for those clients; "" for a stage that is not timed."""
        return f" [{self.seconds:.2f}s]" if self.is_timed else ""


@dataclass(frozen=True, slots=True)
class AttachmentAdded:
    attachment: Attachment


@dataclass(frozen=True, slots=True)
class AnnotationAdded:
    """What stands behind an anchor in the text of the answer, as an application wrote it."""

    annotation: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCallsRequested:
    """The model called tools of the client: the run ends and the client is to answer them."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class StateSaved:
    """What the next request of this conversation must bring back; once, near the end.

    A model may tell its own in several pieces.
    """

    state: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run cost that was cut short; its last event. Nothing is said if it cost nothing."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event of a run that was not cut short by an error."""

    reason: str = "stop"
    usage: Usage = field(default_factory=Usage)


Event = (
    TextDelta
    | RefusalDelta
    | Reasoning
    | StageOpened
    | StageRenamed
    | StageDelta
    | StageAttachment
    | StageClosed
    | AttachmentAdded
    | AnnotationAdded
    | ToolCallsRequested
    | StateSaved
    | Spent
    | Finished
)
StageEvent = StageOpened | StageRenamed | StageDelta | Reasoning | StageAttachment | StageClosed
Emit = Callable[[Event], None]
"""Synchronous, never waits, never fails; in a test it is `events.append`."""
