"""Defines the events that a run emits. Each API encodes them in its own format.

A new event needs a class here and one `case` in each encoder. The type checker reports missing
cases in Python, but not in the page's scripts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from apps.agent.ledger import InteractionRequest
from apps.agent.messages import Attachment, ToolCall


class ModelUsage(msgspec.Struct, frozen=True):
    """The number of tokens that one model has used. None means that the number was not reported."""

    model: str
    input: int
    output: int
    cached: int | None = None
    """Input tokens that were read from the service's cache."""
    created: int | None = None
    """Input tokens that were written to the service's cache."""
    reasoning: int | None = None
    """Output tokens that were spent on reasoning."""


class Usage(msgspec.Struct, frozen=True):
    """The number of tokens that an answer has used."""

    input: int = 0
    output: int = 0
    per_model: tuple[ModelUsage, ...] = ()
    """One item per deployment that answered. A delta from a model can contain none, or items
    without a name, which belong to that model.
    """
    cached: int | None = None
    created: int | None = None
    reasoning: int | None = None


class TokenLogprob(msgspec.Struct, frozen=True, gc=False):
    """The log probability of a token."""

    token: str
    logprob: float
    content: tuple[int, ...] | None = None
    """The token's bytes, or None if unknown. A character can consist of several tokens."""
    likeliest: tuple[TokenLogprob, ...] = ()
    """The most likely tokens at this position."""
    is_refusal: bool = False


class TextDelta(msgspec.Struct, frozen=True, gc=False):
    """A chunk of the answer's text. `logprobs` is set if the client requested log probabilities."""

    # A struct, because there is one for each token and a frozen dataclass is five times slower.
    text: str
    logprobs: tuple[TokenLogprob, ...] | None = None


class RefusalDelta(msgspec.Struct, frozen=True, gc=False):
    """A chunk of the text with which the model refuses to answer."""

    text: str


class Reasoning(msgspec.Struct, frozen=True, gc=False):
    """A chunk of the model's reasoning. It is appended to a stage and is not part of the answer."""

    stage_id: str
    text: str


@dataclass(frozen=True, slots=True)
class StageOpened:
    stage_id: str
    title: str
    parent_id: str | None = None
    is_reasoning: bool = False
    """True if the stage shows the reasoning of the run's own model."""
    tool: str = field(default="", compare=False)
    """The tool whose call the stage shows, or ""."""


@dataclass(frozen=True, slots=True)
class StageRenamed:
    """Appends `suffix` to a stage's title. Titles only grow, because DIAL concatenates them."""

    stage_id: str
    suffix: str


@dataclass(frozen=True, slots=True)
class StageDelta:
    """Appends Markdown to a stage."""

    stage_id: str
    text: str


@dataclass(frozen=True, slots=True)
class StageAttachment:
    stage_id: str
    attachment: Attachment


@dataclass(frozen=True, slots=True)
class StageClosed:
    stage_id: str
    seconds: float | None = None  # None if the duration must not be shown
    failed: bool = False
    """True if an error was raised. Users and API clients see a failure."""
    is_timed: bool = field(default=False, compare=False)
    """True if the duration is appended to the title, for clients that show only titles."""
    excused: bool = False
    """True if a fallback strategy turned the error into a result. Only users see a failure."""
    is_thought: bool = field(default=False, compare=False)
    """True if the stage shows reasoning."""

    @property
    def reads_failed(self) -> bool:
        return self.failed or self.excused

    @property
    def time(self) -> str:
        """Return the duration as a suffix of the title, or "" if the stage is not timed."""
        return f" [{self.seconds:.2f}s]" if self.is_timed else ""


@dataclass(frozen=True, slots=True)
class AttachmentAdded:
    attachment: Attachment


@dataclass(frozen=True, slots=True)
class AnnotationAdded:
    """An application has reported a source that the answer's text cites."""

    annotation: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NoticeAdded:
    """A notice to the user, for example that a fallback deployment answered: one sentence of plain
    text. `notice_id` is unique within the run. If the run is resumed, the notice may be emitted
    again.
    """

    notice_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallsRequested:
    """The model called the client's tools. The run ends, and the client has to execute them."""

    calls: tuple[ToolCall, ...]
    text_tools: frozenset[str] = frozenset()
    """The names of the tools that take plain text."""


@dataclass(frozen=True, slots=True)
class TurnRestarted:
    """Another process is resuming the run from its last recorded step.

    The event contains the part of the answer that remains valid. Everything after that part is
    emitted again. Stages that are still open count as failed.
    """

    text: str = ""
    attachments: tuple[Attachment, ...] = ()
    annotations: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class InteractionRequested:
    """The run is waiting for a user's answer."""

    interaction: InteractionRequest
    """The question. Its key is the step's key in the outermost run's ledger."""
    due: float | None = None
    """The deadline as a Unix timestamp, or None."""


SubagentStatus = Literal["running", "done", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class SubagentStarted:
    """A sub-agent has started. If the run is resumed, the event may be emitted again."""

    key: str
    """The key of the sub-agent's step in the outermost run."""
    stage_id: str
    """The stage of the call that started the sub-agent."""
    name: str
    """The beginning of the sub-agent's task."""
    agent: str = ""
    """The title of the predefined agent, or ""."""


@dataclass(frozen=True, slots=True)
class SubagentEnded:
    key: str
    status: SubagentStatus
    iterations: int = 0
    """The number of model calls, including those of nested sub-agents."""
    tool_calls: int = 0
    """The number of tool calls, including those of nested sub-agents."""
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class TodoChanged:
    """The conversation's to-do list has changed. The event contains the whole list, as Markdown
    with checkboxes.
    """

    text: str


class StateSaved(msgspec.Struct, frozen=True):
    """The state that the client must send back with its next request. A run emits it once, near its
    end. A model may send it in several parts.
    """

    state: Mapping[str, Any]


class Spent(msgspec.Struct, frozen=True):
    """The usage of an interrupted run. It is the run's last event."""

    usage: Usage


class RunFinished(msgspec.Struct, frozen=True):
    """The run has ended without an error."""

    reason: str = "stop"
    """The finish reason: `stop`, `length`, `tool_calls`, `content_filter` or `waiting`."""
    usage: Usage = msgspec.field(default_factory=Usage)
    discarded: tuple[int, ...] | None = None
    """The indexes of messages that were omitted to meet the client's size limit, or None if it set
    no limit.
    """


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
    | NoticeAdded
    | ToolCallsRequested
    | TurnRestarted
    | InteractionRequested
    | SubagentStarted
    | SubagentEnded
    | TodoChanged
    | StateSaved
    | Spent
    | RunFinished
)
StageEvent = StageOpened | StageRenamed | StageDelta | Reasoning | StageAttachment | StageClosed
Emit = Callable[[Event], None]
"""A function that emits an event. It never blocks and never fails."""
