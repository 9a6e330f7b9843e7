"""One answer of a model, put together from the pieces that it streams."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, assert_never

from apps.agent.early import EarlyStages
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
from apps.agent.room import Room

logger = logging.getLogger(__name__)

CUT = "length"
"""The finish reason of an answer that is not complete because it is too long."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete answer; `usage` is empty when the model did not report any.

    `annotations` tell of the anchors in its text.
    """

    message: Message
    finish_reason: str
    usage: tuple[ModelUsage, ...]
    annotations: tuple[Mapping[str, Any], ...] = ()


@dataclass(slots=True)
class GrowingCall:
    """`index` is the number that the service gave it, not always to it alone."""

    index: int
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class Assembly:
    """Collects the deltas of one answer and emits what can be shown at once.

    `lead` is emitted before the first text: what separates it from an earlier answer. `shown`
    are the URLs of attachments that need not be shown again. An answer that outgrows the `room` is
    cut, and asks for no tools. `shows_logprobs` passes on what the service tells of its tokens.
    """

    def __init__(
        self,
        emit: Emit,
        *,
        lead: str = "",
        stages: ModelStages | None = None,
        shown: set[str] | None = None,
        early: EarlyStages | None = None,
        room: Room | None = None,
        shows_logprobs: bool = False,
    ) -> None:
        self.emit = emit
        self.shows_logprobs = shows_logprobs
        self.room = Room() if room is None else room
        self.early = early
        self.lead = lead
        self.stages = stages
        self.shown = set() if shown is None else shown
        self.is_speaking = False
        """Whether the last that came was text: what was shown before it has given way."""
        self.text: list[str] = []
        self.thoughts: list[str] = []
        self.thoughts_name = ""
        """What the service calls the thoughts; "" if it does not tell them."""
        self.calls: list[GrowingCall] = []
        self.growing: dict[int, GrowingCall] = {}
        self.attachments: list[Attachment] = []
        self.annotations: list[Mapping[str, Any]] = []
        self.state: dict[str, Any] = {}
        self.finish_reason = ""
        self.has_shown = False
        """Whether it has anything but text, thoughts and calls: stages, attachments, a state."""
        self.usage: Usage | None = None

    @property
    def has_begun(self) -> bool:
        """Whether something of the answer is there."""
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
            self.room.left -= len(text)
            if self.room.left < 0:
                delta = TextDelta(self.room.fitting(text), delta.logprobs)
            self.say(delta)

    def with_logprobs(self, delta: TextDelta) -> TextDelta:
        """The text with what is told of its tokens, if that is wanted; shown at once without text."""
        if not self.shows_logprobs:
            return TextDelta(delta.text)
        self.room.take_data(delta.logprobs)
        if not delta.text:
            self.emit(delta)
        return delta

    def feed_rare(self, delta: Delta) -> None:  # noqa: C901 - one case for each kind
        match delta:
            case RefusalDelta(text):
                self.room.left -= len(text)
                self.say(RefusalDelta(self.room.fitting(text)))
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
                self.room.take_data(attachment)
                self.attachments.append(attachment)
                show_once(attachment, self.emit, self.shown)
            case AnnotationAdded(annotation):
                self.has_shown = True
                self.room.take_data(annotation)
                self.annotations.append(annotation)
            case StateSaved(state):
                self.has_shown = True
                self.room.take_data(state)
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
        """A refusal is the answer's text too, for all that read it later."""
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
        self.room.left -= len(text)
        self.thoughts.append(text)
        if self.stages is not None:
            self.is_speaking = False
            self.stages.think(self.room.fitting(text))

    def relay(self, event: StageEvent, words: str = "", *attachments: Attachment) -> None:
        self.take_stage(words, attachments)
        if self.stages is not None:
            self.stages.relay(event)

    def take_stage(self, words: str, attachments: Sequence[Attachment]) -> None:
        """Also of a part that says nothing, because it may open a stage."""
        self.has_shown = True
        self.room.left -= 1 + len(words)
        self.room.take_data(attachments)

    def take_usage(self, usage: Usage) -> None:
        """An application tells none when none of its models did."""
        if usage.per_model:
            self.usage = usage

    def feed_call(self, delta: ToolCallDelta) -> None:
        call = self.growing.get(delta.index)
        if call is None or (delta.id and call.id and delta.id != call.id):
            call = self.find_call(delta)
        call.id = call.id or delta.id
        call.name += delta.name
        self.room.left -= 1 + len(delta.name) + len(delta.arguments)
        if delta.arguments:
            call.arguments.append(delta.arguments)
            if self.early is not None:
                self.early.feed(call, delta.arguments)

    def find_call(self, delta: ToolCallDelta) -> GrowingCall:
        """The call that a piece begins. Some services number every call 0: another id is another."""
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
        """End the answer where it is, and say so; calls that may be incomplete are left out."""
        logger.warning(
            "The answer of a model was cut: it has more than %d characters or too much data",
            self.room.most,
        )
        self.calls.clear()
        self.growing.clear()
        self.finish_reason = CUT
        self.say(TextDelta(f"\n\n{self.room.notice}" if self.text else self.room.notice))

    def closing(self) -> AbstractContextManager[object]:
        """The model's own stages do not outlive the block."""
        return self.stages if self.stages is not None else nullcontext()

    def reply(self, model: str, taken: Collection[str] = ()) -> Reply:
        """The whole answer; calls get other ids than those that are `taken`."""
        used = set(taken)
        calls = tuple(
            ToolCall(unused(call.id, used), call.name, "".join(call.arguments))
            for call in sorted(self.calls, key=attrgetter("index"))
        )
        has_thoughts = calls and self.thoughts_name
        message = Message(
            "assistant",
            "".join(self.text),
            tool_calls=calls,
            attachments=tuple(self.attachments),
            thoughts=Thoughts({self.thoughts_name: "".join(self.thoughts)}, model)
            if has_thoughts
            else None,
            model_state=self.state,
        )
        return Reply(
            message, self.finish_reason or "stop", self.spent(model), tuple(self.annotations)
        )

    def spent(self, model: str) -> tuple[ModelUsage, ...]:
        """What the answer cost, by model where that was told; () when nothing was."""
        told = self.usage
        if told is None:
            return ()
        if told.per_model:
            return tuple(
                item if item.model else replace(item, model=model) for item in told.per_model
            )
        counts = (told.input, told.output, told.cached, told.created, told.reasoning)
        return (ModelUsage(model, *counts),)


def unused(id: str, used: set[str]) -> str:
    """The id, or a new one if it is empty or used: results are told apart by it."""
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
