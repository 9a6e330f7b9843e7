"""Everything a run can say while it works.

The doors translate these events; nothing else leaves the core. A new event is a new class here
plus one `case` in each encoder: the type checker finds those, the page's scripts it does not read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from apps.agent.ledger import Interaction
from apps.agent.messages import Attachment, ToolCall


class ModelUsage(msgspec.Struct, frozen=True):
    """Input and output tokens of one model.

    Of the input, `cached` were read from the service's cache and `created` written to it; of the
    output, `reasoning` were for thinking. None where the service did not report it.
    """

    model: str
    input: int
    output: int
    cached: int | None = None
    created: int | None = None
    reasoning: int | None = None


class Usage(msgspec.Struct, frozen=True):
    """Tokens spent, counted as in `ModelUsage`, with one entry for each deployment that answered.

    A model's own delta may have no entries, or entries without a name: they mean that model.
    """

    input: int = 0
    output: int = 0
    per_model: tuple[ModelUsage, ...] = ()
    cached: int | None = None
    created: int | None = None
    reasoning: int | None = None


class TextDelta(msgspec.Struct, frozen=True, gc=False):
    """`logprobs` are the service's for the tokens of the text, if the client asked for them."""

    # A struct, because there is one for each token: a frozen dataclass takes five times as long.
    text: str
    logprobs: Mapping[str, Any] | None = None


class RefusalDelta(msgspec.Struct, frozen=True, gc=False):
    """Text with which the model refuses to answer."""

    text: str


class Reasoning(msgspec.Struct, frozen=True, gc=False):
    """A token of the model's reasoning, which is no part of the answer; it continues a stage."""

    stage_id: str
    text: str


@dataclass(frozen=True, slots=True)
class StageOpened:
    """`is_reasoning`: the stage shows the reasoning of the run's own model, as `Reasoning`."""

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
    """`is_timed`: put the duration into the title, for clients that show nothing but titles.

    `failed`: the failure went on. `excused`: a fallback made a result of it, so programs read that
    the stage completed, people that it failed. `seconds` are None where nobody is told them.
    """

    stage_id: str
    seconds: float | None = None
    failed: bool = False
    is_timed: bool = field(default=False, compare=False)
    excused: bool = False

    @property
    def reads_failed(self) -> bool:
        return self.failed or self.excused

    @property
    def time(self) -> str:
        """The end of the title; "" for a stage that is not timed."""
        return f" [{self.seconds:.2f}s]" if self.is_timed else ""


@dataclass(frozen=True, slots=True)
class AttachmentAdded:
    attachment: Attachment


@dataclass(frozen=True, slots=True)
class AnnotationAdded:
    """The source behind an anchor in the text of the answer, as an application wrote it."""

    annotation: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Noticed:
    """What the person should know of how the answer came about, in one plain sentence.

    `notice_id` is unique in the run; a run that goes on elsewhere may say it again.
    """

    notice_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallsRequested:
    """The model called tools of the client: the run ends, and the client has to run them."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class TurnRestarted:
    """Another process goes on with the run, from its last recorded step.

    The answer so far consists of these parts; what was shown after them will come again. Stages
    that are open have failed.
    """

    text: str = ""
    attachments: tuple[Attachment, ...] = ()
    annotations: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class InteractionRequested:
    """The run waits for an answer until `due`, in seconds since 1970; None for no limit.

    The `key` of the interaction is that of the outermost run.
    """

    interaction: Interaction
    due: float | None = None


HelperStatus = Literal["running", "done", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class HelperBegan:
    """A run of its own begins in the stage of the call that asked for it.

    `key` is that of the call's step in the outermost run, `name` the beginning of the task, `agent`
    the title of the predefined agent, "" for none. It may be told again after an interruption.
    """

    key: str
    stage_id: str
    name: str
    agent: str = ""


@dataclass(frozen=True, slots=True)
class HelperEnded:
    """`iterations` and `tool_calls` count those of the helper and of its own helpers."""

    key: str
    status: HelperStatus
    iterations: int = 0
    tool_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class TodoChanged:
    """The whole to-do list of the conversation, as Markdown with checkboxes."""

    text: str


class StateSaved(msgspec.Struct, frozen=True):
    """The state that the next request must bring back: once, near the end; a model's in pieces."""

    state: Mapping[str, Any]


class Spent(msgspec.Struct, frozen=True):
    """The last event of a run that was cut short, if it cost anything."""

    usage: Usage


class Finished(msgspec.Struct, frozen=True):
    """The last event of a run that was not cut short by an error.

    `discarded` are the places of messages that the model was not sent, where the client set a limit
    for what it is sent; else None.
    """

    reason: str = "stop"
    usage: Usage = msgspec.field(default_factory=Usage)
    discarded: tuple[int, ...] | None = None


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
    | Noticed
    | ToolCallsRequested
    | TurnRestarted
    | InteractionRequested
    | HelperBegan
    | HelperEnded
    | TodoChanged
    | StateSaved
    | Spent
    | Finished
)
StageEvent = StageOpened | StageRenamed | StageDelta | Reasoning | StageAttachment | StageClosed
Emit = Callable[[Event], None]
"""Synchronous, never waits, never fails; in a test it is `events.append`."""
