"""One answer of a model, put together from the pieces that it streams."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, assert_never

import msgspec

from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Emit,
    Finished,
    ModelUsage,
    Reasoning,
    RefusalDelta,
    Spent,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageEvent,
    StageOpened,
    StageRenamed,
    StateSaved,
    TextDelta,
    ToolCallsRequested,
    Usage,
)
from apps.agent.messages import Attachment, Message, Thoughts, ToolCall
from apps.agent.model import Delta, Finish, ReasoningDelta, StagePart, ToolCallDelta
from apps.agent.model_stages import ModelStages
from apps.agent.stages import EarlyStages, GrowingCall

logger = logging.getLogger(__name__)

CUT = "length"
"""The finish reason of an answer that is not complete because it is too long."""
MOST_CHARACTERS = 4_000_000
"""Some million tokens. The most that a model is known to answer with are 128,000, about half a
million characters, and a run asks a model some fifteen times."""
MOST_DATA = 32 * 1024 * 1024
"""Characters of files and state beside the text: as much as an answer in one piece may have."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete answer; `usage` is empty when the model did not report any."""

    message: Message
    finish_reason: str
    usage: tuple[ModelUsage, ...]
    annotations: tuple[Mapping[str, Any], ...] = ()


@dataclass(slots=True)
class Allowance:
    """How much the models of one run may still say: an endless answer must not fill the memory.

    Text, reasoning and tool calls share the `most` characters, of which `left` are left; below
    zero, the answer had more. Attachments and state have `data` characters of JSON.
    """

    most: int = MOST_CHARACTERS
    left: int = 0
    data: int = MOST_DATA

    def __post_init__(self) -> None:
        self.left = self.most

    @property
    def is_exceeded(self) -> bool:
        return self.left < 0 or self.data < 0

    @property
    def notice(self) -> str:
        if self.left < 0:
            return f"[The answer was cut here: it may have {self.most:,} characters at most.]"
        return "[The answer was cut here: too much data came with it.]"

    def fitting(self, text: str) -> str:
        """The part of a text, already counted, that was still allowed."""
        return text[: max(len(text) + self.left, 0)]

    def take_data(self, value: Any) -> None:
        if value:
            self.data -= len(msgspec.json.encode(value))


class Assembly:
    """Collects the deltas of one answer and emits what can be shown at once.

    `lead` separates the first text from an earlier answer. `shown` are the URLs of attachments
    that need not be shown again. `shows_logprobs` passes the service's logprobs on.
    """

    def __init__(
        self,
        emit: Emit,
        *,
        lead: str = "",
        stages: ModelStages | None = None,
        shown: set[str] | None = None,
        early: EarlyStages | None = None,
        allowance: Allowance | None = None,
        shows_logprobs: bool = False,
    ) -> None:
        self.emit = emit
        self.shows_logprobs = shows_logprobs
        self.allowance = Allowance() if allowance is None else allowance
        self.early = early
        self.lead = lead
        self.stages = stages
        self.shown = set() if shown is None else shown
        self.is_speaking = False
        """Whether the last delta was text, before which the model's stages were closed."""
        self.text: list[str] = []
        self.thoughts: list[str] = []
        self.thoughts_name = ""
        """The service's name for reasoning; "" if it sends none."""
        self.calls: list[GrowingCall] = []
        self.growing: dict[int, GrowingCall] = {}
        self.attachments: list[Attachment] = []
        self.annotations: list[Mapping[str, Any]] = []
        self.state: dict[str, Any] = {}
        self.finish_reason = ""
        self.has_shown = False
        """Whether there are stages, attachments, annotations or a state."""
        self.usage: Usage | None = None

    @property
    def has_begun(self) -> bool:
        return bool(self.text or self.calls or self.has_shown or self.finish_reason) or (
            bool(self.thoughts) or self.usage is not None
        )

    def feed(self, delta: Delta) -> None:
        if not isinstance(delta, TextDelta):  # seldom
            self.feed_rare(delta)
            return
        if delta.logprobs is not None:
            delta = self.with_logprobs(delta)
        if text := delta.text:
            self.allowance.left -= len(text)
            if self.allowance.left < 0:
                delta = TextDelta(self.allowance.fitting(text), delta.logprobs)
            self.say(delta)

    def with_logprobs(self, delta: TextDelta) -> TextDelta:
        """The delta with logprobs only if they are wanted; emitted here if it has no text."""
        if not self.shows_logprobs:
            return TextDelta(delta.text)
        self.allowance.take_data(delta.logprobs)
        if not delta.text:
            self.emit(delta)
        return delta

    def feed_rare(self, delta: Delta) -> None:  # noqa: C901 - one case for each kind
        match delta:
            case RefusalDelta(text):
                self.allowance.left -= len(text)
                self.say(RefusalDelta(self.allowance.fitting(text)))
            case ReasoningDelta():
                self.feed_reasoning(delta)
            case ToolCallDelta():
                self.feed_call(delta)
            case ToolCallsRequested(calls):
                for index, call in enumerate(calls):
                    self.feed_call(ToolCallDelta(index, call.id, call.name, call.arguments))
            case StagePart():
                self.take_stage(delta.name + delta.content, delta.attachments)
                if self.stages is not None:
                    self.stages.feed(delta)
            case StageAttachment(_, attachment):
                self.relay(delta, "", attachment)
            case StageOpened(title=text) | StageRenamed(suffix=text):
                self.relay(delta, text)
            case StageDelta(_, text) | Reasoning(_, text):
                self.relay(delta, text)
            case StageClosed():
                self.relay(delta)
            case AttachmentAdded(attachment):
                self.has_shown = True
                self.allowance.take_data(attachment)
                self.attachments.append(attachment)
                show_once(attachment, self.emit, self.shown)
            case AnnotationAdded(annotation):
                self.has_shown = True
                self.allowance.take_data(annotation)
                self.annotations.append(annotation)
            case StateSaved(state):
                self.has_shown = True
                self.allowance.take_data(state)
                self.state |= state
            case Usage():
                self.usage = delta
            case Spent(usage):
                self.take_usage(usage)
            case Finish(reason):
                self.finish_reason = reason
            case Finished(reason, usage):
                self.finish_reason = reason
                self.take_usage(usage)
            case TextDelta():
                self.feed(delta)
            case _:
                assert_never(delta)

    def say(self, delta: TextDelta | RefusalDelta) -> None:
        """Emit text; a refusal becomes the text of the message too."""
        if not self.is_speaking:
            self.begin_text()
        self.text.append(delta.text)
        self.emit(delta)

    def begin_text(self) -> None:
        self.is_speaking = True
        if self.stages is not None:
            self.stages.give_way()
        if self.lead and not self.text:
            self.emit(TextDelta(self.lead))

    def feed_reasoning(self, delta: ReasoningDelta) -> None:
        text = delta.text
        if text or not self.thoughts_name:
            self.thoughts_name = delta.name
        if not text:
            return
        self.allowance.left -= len(text)
        self.thoughts.append(text)
        if self.stages is not None:
            self.is_speaking = False
            self.stages.think(self.allowance.fitting(text))

    def relay(self, event: StageEvent, words: str = "", *attachments: Attachment) -> None:
        self.take_stage(words, attachments)
        if self.stages is not None:
            self.stages.relay(event)

    def take_stage(self, words: str, attachments: Sequence[Attachment]) -> None:
        self.has_shown = True
        self.allowance.left -= 1 + len(words)  # an empty part may still open a stage
        self.allowance.take_data(attachments)

    def take_usage(self, usage: Usage) -> None:
        if usage.per_model:  # empty if no model of the application reported its usage
            self.usage = usage

    def feed_call(self, delta: ToolCallDelta) -> None:
        call = self.growing.get(delta.index)
        if call is None or (delta.id and call.id and delta.id != call.id):
            call = self.find_call(delta)
        call.id = call.id or delta.id
        call.name += delta.name
        self.allowance.left -= 1 + len(delta.name) + len(delta.arguments)
        if delta.arguments:
            call.arguments.append(delta.arguments)
            if self.early is not None:
                self.early.feed(call, delta.arguments)

    def find_call(self, delta: ToolCallDelta) -> GrowingCall:
        """The call of a piece that the number alone does not tell: some services number all 0."""
        numbered = (call for call in self.calls if call.index == delta.index)
        call = next((call for call in numbered if call.id == delta.id), None)
        if call is None:
            if self.stages is not None:
                self.stages.give_way()
            call = GrowingCall(delta.index)
            self.calls.append(call)
        self.growing[delta.index] = call
        return call

    def cut(self) -> None:
        """End the answer with a notice, without its calls: they may be incomplete."""
        logger.warning(
            "The answer of a model was cut: it has more than %d characters or too much data",
            self.allowance.most,
        )
        self.calls.clear()
        self.growing.clear()
        self.finish_reason = CUT
        self.say(TextDelta(f"\n\n{self.allowance.notice}" if self.text else self.allowance.notice))

    def reply(self, model: str, taken: Collection[str] = ()) -> Reply:
        """The whole answer; calls get ids that are not `taken`."""
        used = set(taken)
        calls = tuple(
            ToolCall(unused(call.id, used), call.name, "".join(call.arguments))
            for call in sorted(self.calls, key=attrgetter("index"))
        )
        thoughts = None
        if calls and self.thoughts_name:
            thoughts = Thoughts({self.thoughts_name: "".join(self.thoughts)}, model)
        message = Message(
            "assistant",
            "".join(self.text),
            tool_calls=calls,
            attachments=tuple(self.attachments),
            thoughts=thoughts,
            model_state=self.state,
        )
        reason = self.finish_reason or "stop"
        return Reply(message, reason, self.spent(model), tuple(self.annotations))

    def spent(self, model: str) -> tuple[ModelUsage, ...]:
        """The usage by model, entries without a name under `model`; () if none was reported."""
        if (usage := self.usage) is None:
            return ()
        if usage.per_model:
            return tuple(one if one.model else replace(one, model=model) for one in usage.per_model)
        counts = (usage.input, usage.output, usage.cached, usage.created, usage.reasoning)
        return (ModelUsage(model, *counts),)


def unused(id: str, used: set[str]) -> str:
    """The id, or a new one if it is empty or used: results are matched to calls by it."""
    if not id or id in used:
        id = f"call_{uuid.uuid4().hex}"
    used.add(id)
    return id


def show_once(attachment: Attachment, emit: Emit, shown: set[str]) -> None:
    """Show an attachment on the answer, unless one of the same URL is there already."""
    if attachment.url is not None:
        if attachment.url in shown:
            return
        shown.add(attachment.url)
    emit(AttachmentAdded(attachment))
