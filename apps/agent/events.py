"""The events that a run emits while it works.

The doors translate these events; the core has no other output. For a new event, add a class here
and one `case` to each encoder. The type checker reports missing cases in Python, but not in the
page's scripts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from apps.agent.ledger import InteractionRequest
from apps.agent.messages import Attachment, ToolCall


class ModelUsage(msgspec.Struct, frozen=True):
    """The input and output tokens of one model.

    Of the input, `cached` tokens were read from the service's cache and `created` tokens were
    written to it. Of the output, `reasoning` tokens were for thinking. Each is None if the service
    did not report them.
    """

    model: str
    input: int
    output: int
    cached: int | None = None
    created: int | None = None
    reasoning: int | None = None


class Usage(msgspec.Struct, frozen=True):
    """The tokens of an answer, counted as in `ModelUsage`, with one entry for each deployment that
    answered.

    In a delta from a model, the entries may be missing, or may have no name. They then belong to
    that model.
    """

    input: int = 0
    output: int = 0
    per_model: tuple[ModelUsage, ...] = ()
    cached: int | None = None
    created: int | None = None
    reasoning: int | None = None


class TokenLogprob(msgspec.Struct, frozen=True, gc=False):
    """The log probability of a token, and the `likeliest` tokens at its position.

    `content` contains the bytes of the token, or None if they are unknown. One character may
    consist of several tokens.
    """

    token: str
    logprob: float
    content: tuple[int, ...] | None = None
    likeliest: tuple[TokenLogprob, ...] = ()
    is_refusal: bool = False


class TextDelta(msgspec.Struct, frozen=True, gc=False):
    """A piece of the answer's text. `logprobs` contains its tokens, if the client requested
    them.
    """

    # A struct, because there is one for each token: a frozen dataclass is five times slower.
    text: str
    logprobs: tuple[TokenLogprob, ...] | None = None


class RefusalDelta(msgspec.Struct, frozen=True, gc=False):
    """A piece of the text with which the model refuses to answer."""

    text: str


class Reasoning(msgspec.Struct, frozen=True, gc=False):
    """A token of the model's reasoning. It is appended to a stage and is not part of the answer."""

    stage_id: str
    text: str


@dataclass(frozen=True, slots=True)
class StageOpened:
    """A stage opens. `is_reasoning` is True if the stage shows the reasoning of the run's own
    model.

    `tool` is the name of the tool whose call the stage shows, "" for other stages.
    """

    stage_id: str
    title: str
    parent_id: str | None = None
    is_reasoning: bool = False
    tool: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class StageRenamed:
    """Appends `suffix` to the title of a stage, because DIAL concatenates stage names."""

    stage_id: str
    suffix: str


@dataclass(frozen=True, slots=True)
class StageDelta:
    """Adds content to a stage. `text` is Markdown and is appended to the stage."""

    stage_id: str
    text: str


@dataclass(frozen=True, slots=True)
class StageAttachment:
    stage_id: str
    attachment: Attachment


@dataclass(frozen=True, slots=True)
class StageClosed:
    """A stage closes.

    If `is_timed` is True, the duration is added to the title, for clients that show only titles.
    `failed` means that the failure was propagated. `excused` means that a fallback strategy turned
    the failure into a result: API clients see a completed stage, and users see a failed stage.
    `seconds` is None if the duration must not be shown.
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
        """Return the duration as a title suffix, or "" for a stage that is not timed."""
        return f" [{self.seconds:.2f}s]" if self.is_timed else ""


@dataclass(frozen=True, slots=True)
class AttachmentAdded:
    attachment: Attachment


@dataclass(frozen=True, slots=True)
class AnnotationAdded:
    """A source to which an anchor in the answer's text refers, in the form in which an application
    reported it.
    """

    annotation: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Noticed:
    """A one-sentence, plain-text notice to the user about the answer, for example that a fallback
    model was used.

    `notice_id` is unique within the run. If another process resumes the run, the notice may be
    emitted again.
    """

    notice_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallsRequested:
    """The model called tools of the client. The run ends, and the client has to run them.

    `text_tools` contains the names of the tools whose argument is plain text.
    """

    calls: tuple[ToolCall, ...]
    text_tools: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TurnRestarted:
    """Another process resumes the run from its last recorded step.

    The event contains the valid parts of the answer so far. All later parts that were shown are
    emitted again. Open stages have failed.
    """

    text: str = ""
    attachments: tuple[Attachment, ...] = ()
    annotations: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class InteractionRequested:
    """The run waits for a user's answer. `due` is the deadline as a Unix timestamp, or None if there
    is none.

    The `key` of the interaction is its key in the ledger of the outermost run.
    """

    interaction: InteractionRequest
    due: float | None = None


SubagentStatus = Literal["running", "done", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class SubagentStarted:
    """A sub-agent starts in the stage of the call that delegated a task to it.

    `key` is the key of the call's step in the outermost run, `name` is the beginning of the task,
    and `agent` is the title of the predefined agent, or "" if there is none. After an interruption,
    the event may be emitted again.
    """

    key: str
    stage_id: str
    name: str
    agent: str = ""


@dataclass(frozen=True, slots=True)
class SubagentEnded:
    """A sub-agent ends. `iterations` and `tool_calls` include nested sub-agents."""

    key: str
    status: SubagentStatus
    iterations: int = 0
    tool_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class TodoChanged:
    """The whole to-do list of the conversation, as Markdown with checkboxes."""

    text: str


class StateSaved(msgspec.Struct, frozen=True):
    """The state that the client must send back in the next request. A run emits it once, near its
    end; a model may send it in pieces.
    """

    state: Mapping[str, Any]


class Spent(msgspec.Struct, frozen=True):
    """The usage of a run that was interrupted, emitted as its last event."""

    usage: Usage


class Finished(msgspec.Struct, frozen=True):
    """Ends a run that no error interrupted.

    `reason` is `stop`, `length`, `tool_calls` or `content_filter`, mapped from the service's own
    reason. If the client limited the size of requests, `discarded` lists the positions of the
    omitted messages, otherwise it is None.
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
    | SubagentStarted
    | SubagentEnded
    | TodoChanged
    | StateSaved
    | Spent
    | Finished
)
StageEvent = StageOpened | StageRenamed | StageDelta | Reasoning | StageAttachment | StageClosed
Emit = Callable[[Event], None]
"""A function that emits an event. It is synchronous and never blocks or fails. Tests use
`events.append`.
"""
