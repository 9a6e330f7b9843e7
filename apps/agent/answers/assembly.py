"""Assembles a model's answer from the deltas that it streams."""

import logging
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, assert_never

from msgspec.structs import replace

from apps.agent.answers.tool_calls import MOST_CALLS, GrowingCalls, GrowingThoughts
from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Emit,
    InteractionRequested,
    ModelUsage,
    NoticeAdded,
    Reasoning,
    RefusalDelta,
    RunFinished,
    Spent,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageEvent,
    StageOpened,
    StageRenamed,
    StateSaved,
    SubagentEnded,
    SubagentStarted,
    TextDelta,
    TodoChanged,
    ToolCallsRequested,
    TurnRestarted,
    Usage,
)
from apps.agent.ledger import WAITING
from apps.agent.messages import Attachment, ModelMessage
from apps.agent.model import (
    Delta,
    Finish,
    Payer,
    ReasoningDelta,
    Reply,
    StagePart,
    ThoughtPart,
    ToolCallDelta,
    UntrustedRead,
)
from apps.agent.progress import RunAnswer
from apps.agent.taint import Taint
from apps.agent.turn_stages import EarlyStages, ModelStages

logger = logging.getLogger(__name__)

CUT = "length"
"""The finish reason of an answer that reached the model's length limit."""
CALL_CHARACTERS = 100
"""Each tool call counts as this many characters toward the output limit, in addition to its name
and arguments.
"""
TOO_MANY_CALLS = f"[The answer was cut here: the limit is {MOST_CALLS:,} tool calls.]"


class Assembly:
    """Assembles one answer from deltas, and emits its visible parts as they arrive."""

    def __init__(
        self,
        emit: Emit,
        *,
        answer: RunAnswer | None = None,
        stages: ModelStages | None = None,
        early: EarlyStages | None = None,
        shows_logprobs: bool = False,
        taint: Taint | None = None,
        names: Collection[str] = (),
    ) -> None:
        self.emit = emit
        self.taint = Taint() if taint is None else taint
        """Collects the untrusted sources that the model's service has read."""
        self.shows_logprobs = shows_logprobs
        self.answer = RunAnswer() if answer is None else answer
        """The run's output so far, to which this answer is appended."""
        self.allowance = self.answer.allowance
        self.early = early
        self.deployment = ""  # the deployment that answers
        self.lead = self.answer.lead
        self.stages = stages
        self.is_speaking = False
        """True while text is arriving. The first text delta closes the model's stages."""
        self.text: list[str] = []
        self.first_text_at: float | None = None
        """The `time.monotonic()` of the first text, or None before it arrives."""
        self.thoughts = GrowingThoughts()
        self.calls = GrowingCalls(names)
        self.attachments: list[Attachment] = []
        self.annotations: list[Mapping[str, Any]] = []
        self.state: dict[str, Any] = {}
        self.finish_reason = ""
        self.has_shown = False
        """True if the answer has stages, attachments, annotations or state."""
        self.usage: Usage | None = None
        self.is_paid_by_person = False

    @property
    def has_begun(self) -> bool:
        return bool(self.text or self.calls.calls or self.has_shown or self.finish_reason) or (
            bool(self.thoughts) or self.usage is not None
        )

    def feed(self, delta: Delta) -> None:
        if not isinstance(delta, TextDelta):  # rare
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
        """Return the delta, without logprobs unless the client requested them. `feed` ignores
        deltas without text, so their logprobs are emitted here.
        """
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
            case ThoughtPart():
                self.allowance.take_data(delta.text)
                self.thoughts.take(delta)
            case UntrustedRead(source):
                self.taint.add(source)
            case Payer(is_person):
                self.is_paid_by_person = is_person
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
                self.answer.attach(attachment, self.emit)
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
            case TurnRestarted():
                self.restart(delta)
            case NoticeAdded(notice_id, text):
                self.emit(NoticeAdded(f"{self.prefix}{notice_id}", text))
            case InteractionRequested() | SubagentEnded():
                self.emit(delta)
            case SubagentStarted(key, stage_id, name, agent):
                self.emit(SubagentStarted(key, f"{self.prefix}{stage_id}", name, agent))
            case TodoChanged():
                pass  # the to-do list of another application's conversation
            case Finish(reason):
                # Only `RunFinished`, from an application of this installation, can report that a
                # run is waiting.
                self.finish_reason = "stop" if reason == WAITING else reason
            case RunFinished(reason, usage):
                self.finish_reason = reason
                self.take_usage(usage)
            case TextDelta():
                self.feed(delta)
            case _:
                assert_never(delta)

    @property
    def prefix(self) -> str:
        return self.stages.prefix if self.stages is not None else ""

    def restart(self, event: TurnRestarted) -> None:
        """Add the output that an interrupted nested run had already produced."""
        self.feed(TextDelta(event.text))
        for attachment in event.attachments:
            self.feed(AttachmentAdded(attachment))
        for annotation in event.annotations:
            self.feed(AnnotationAdded(annotation))

    def say(self, delta: TextDelta | RefusalDelta) -> None:
        """Emit a text or refusal delta. Both become part of the message's text."""
        if not self.is_speaking:
            self.begin_text()
        self.text.append(delta.text)
        self.emit(delta)

    def begin_text(self) -> None:
        self.is_speaking = True
        if self.first_text_at is None:
            self.first_text_at = time.monotonic()
        if self.stages is not None:
            self.stages.give_way()
        if self.lead and not self.text:
            self.emit(TextDelta(self.lead))

    def feed_reasoning(self, delta: ReasoningDelta) -> None:
        self.thoughts.feed(delta)
        if not (text := delta.text):
            return
        self.allowance.left -= len(text)
        if self.stages is not None:
            self.is_speaking = False
            self.stages.think(self.allowance.fitting(text))

    def relay(self, event: StageEvent, words: str = "", *attachments: Attachment) -> None:
        self.take_stage(words, attachments)
        if self.stages is not None:
            self.stages.relay(event)

    def take_stage(self, words: str, attachments: Sequence[Attachment]) -> None:
        self.has_shown = True
        self.allowance.left -= 1 + len(words)  # A part without text can still open a stage.
        self.allowance.take_data(attachments)

    def take_usage(self, usage: Usage) -> None:
        if usage.per_model:  # Empty if no model of the application reported its usage.
            self.usage = usage

    def feed_call(self, delta: ToolCallDelta) -> None:
        calls = self.calls.calls
        count_before = len(calls)
        call = self.calls.feed(delta)
        if len(calls) > count_before:
            self.allowance.left -= CALL_CHARACTERS
            if self.stages is not None:
                self.stages.give_way()
        self.allowance.left -= 1 + len(delta.name) + len(delta.arguments)
        self.allowance.data -= len(delta.id)
        if delta.arguments and self.early is not None:
            self.early.feed(call, delta.arguments)

    @property
    def is_too_long(self) -> bool:
        return self.allowance.is_exceeded or len(self.calls.calls) > MOST_CALLS

    def cut(self) -> None:
        """Truncate the answer at the output limit, append a notice about the limit, and drop the
        tool calls, which may be incomplete.
        """
        notice = TOO_MANY_CALLS
        if self.allowance.is_exceeded:
            notice = self.allowance.notice
        logger.warning("Truncated a model's answer: %s", notice)
        self.calls = GrowingCalls()
        self.finish_reason = CUT
        self.say(TextDelta(f"\n\n{notice}" if self.text else notice))

    def reply(self, model: str, used_ids: Collection[str] = ()) -> Reply:
        """Return the complete answer. Tool calls whose IDs are in `used_ids` get new IDs."""
        model = self.deployment or model
        calls = self.calls.complete(used_ids) if self.calls.calls else ()
        thoughts = self.thoughts
        has_thoughts = bool(thoughts.parts or thoughts.name)
        message = ModelMessage(
            "assistant",
            "".join(self.text),
            tool_calls=calls,
            attachments=tuple(self.attachments),
            thoughts=thoughts.complete(model, has_calls=bool(calls)) if has_thoughts else None,
            model_state=self.state,
        )
        reason = self.finish_reason or "stop"
        return Reply(message, reason, self.spent(model), tuple(self.annotations), model)

    def spent(self, model: str) -> tuple[ModelUsage, ...]:
        """Return the answer's usage by model, or () if the service reported none. Usage without a
        name belongs to the deployment `model`.
        """
        return usage_by_model(self.usage, self.deployment or model)


def usage_by_model(usage: Usage | None, deployment: str) -> tuple[ModelUsage, ...]:
    """Return the usage of an answer by model, or () if there is none. Usage without a model's name
    belongs to the deployment.
    """
    if usage is None:
        return ()
    if usage.per_model:
        found = usage.per_model
        return tuple(one if one.model else replace(one, model=deployment) for one in found)
    counts = (usage.input, usage.output, usage.cached, usage.created, usage.reasoning)
    return (ModelUsage(deployment, *counts),)
