"""One answer of a model, put together from the pieces that it streams."""

import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

from msgspec.structs import replace

from apps.agent.allowance import Allowance
from apps.agent.early_stages import EarlyStages
from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Emit,
    Finished,
    HelperBegan,
    HelperEnded,
    InteractionRequested,
    ModelUsage,
    Noticed,
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
    TodoChanged,
    ToolCallsRequested,
    TurnRestarted,
    Usage,
)
from apps.agent.growing_calls import MOST_CALLS, GrowingCalls
from apps.agent.growing_thoughts import GrowingThoughts
from apps.agent.ledger import WAITING
from apps.agent.messages import Attachment, Message
from apps.agent.model import (
    Delta,
    Finish,
    Payer,
    ReasoningDelta,
    StagePart,
    ThoughtPart,
    ToolCallDelta,
    UntrustedRead,
)
from apps.agent.model_stages import ModelStages
from apps.agent.taint import Taint

logger = logging.getLogger(__name__)

CUT = "length"
"""The finish reason of an answer that is not complete because it is too long."""
CALL_CHARACTERS = 100
"""Each call counts this many characters for its JSON, in addition to its name and arguments."""
TOO_MANY_CALLS = f"[The answer was cut here: it may have {MOST_CALLS:,} tool calls at most.]"


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete answer; `usage` is empty when the `deployment` that gave it did not report any."""

    message: Message
    finish_reason: str
    usage: tuple[ModelUsage, ...]
    annotations: tuple[Mapping[str, Any], ...] = ()
    deployment: str = field(default="", compare=False)


class Assembly:
    """Collects the deltas of one answer and emits what can be shown at once.

    `lead` separates the first text from an earlier answer. `shown` are the URLs of attachments
    that need not be shown again. `shows_logprobs` passes the service's logprobs on.
    `taint` is told what the model's service has read. `names` are the tools that may be called.
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
        taint: Taint | None = None,
        names: Collection[str] = (),
    ) -> None:
        self.emit = emit
        self.taint = Taint() if taint is None else taint
        self.shows_logprobs = shows_logprobs
        self.allowance = Allowance() if allowance is None else allowance
        self.early = early
        self.deployment = ""  # the one that is asked in fact
        self.lead = lead
        self.stages = stages
        self.shown = set() if shown is None else shown
        self.is_speaking = False
        """Whether the last delta was text, before which the model's stages were closed."""
        self.text: list[str] = []
        self.first_text_at: float | None = None
        """By the monotonic clock."""
        self.thoughts = GrowingThoughts()
        self.calls = GrowingCalls(names)
        self.attachments: list[Attachment] = []
        self.annotations: list[Mapping[str, Any]] = []
        self.state: dict[str, Any] = {}
        self.finish_reason = ""
        self.has_shown = False
        """Whether there are stages, attachments, annotations or a state."""
        self.usage: Usage | None = None
        self.is_paid_by_person = False

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
            case TurnRestarted():
                self.restart(delta)
            case Noticed(notice_id, text):
                prefix = self.stages.prefix if self.stages is not None else ""
                self.emit(Noticed(f"{prefix}{notice_id}", text))
            case InteractionRequested() | HelperEnded():
                self.emit(delta)
            case HelperBegan(key, stage_id, name, agent):
                prefix = self.stages.prefix if self.stages is not None else ""
                self.emit(HelperBegan(key, f"{prefix}{stage_id}", name, agent))
            case TodoChanged():
                pass  # of a conversation with another application
            case Finish(reason):
                # Only an application here can wait, which says so with `Finished`.
                self.finish_reason = "stop" if reason == WAITING else reason
            case Finished(reason, usage):
                self.finish_reason = reason
                self.take_usage(usage)
            case TextDelta():
                self.feed(delta)
            case _:
                assert_never(delta)

    def restart(self, event: TurnRestarted) -> None:
        """An application goes on: take what it has said, of which this run knows nothing yet."""
        self.feed(TextDelta(event.text))
        for attachment in event.attachments:
            self.feed(AttachmentAdded(attachment))
        for annotation in event.annotations:
            self.feed(AnnotationAdded(annotation))

    def say(self, delta: TextDelta | RefusalDelta) -> None:
        """Emit text; a refusal becomes the text of the message too."""
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
        self.allowance.left -= 1 + len(words)  # an empty part may still open a stage
        self.allowance.take_data(attachments)

    def take_usage(self, usage: Usage) -> None:
        if usage.per_model:  # empty if no model of the application reported its usage
            self.usage = usage

    def feed_call(self, delta: ToolCallDelta) -> None:
        known = len(self.calls)
        call = self.calls.feed(delta)
        if len(self.calls) > known:
            self.allowance.left -= CALL_CHARACTERS
            if self.stages is not None:
                self.stages.give_way()
        self.allowance.left -= 1 + len(delta.name) + len(delta.arguments)
        self.allowance.data -= len(delta.id)
        if delta.arguments and self.early is not None:
            self.early.feed(call, delta.arguments)

    @property
    def is_too_long(self) -> bool:
        return self.allowance.is_exceeded or len(self.calls) > MOST_CALLS

    def cut(self) -> None:
        """End the answer with a notice, without its calls: they may be incomplete."""
        notice = TOO_MANY_CALLS
        if self.allowance.is_exceeded:
            notice = self.allowance.notice
        logger.warning("The answer of a model is too long: %s", notice)
        self.calls = GrowingCalls()
        self.finish_reason = CUT
        self.say(TextDelta(f"\n\n{notice}" if self.text else notice))

    def reply(self, model: str, taken: Collection[str] = ()) -> Reply:
        """The whole answer; calls get ids that are not `taken`."""
        model = self.deployment or model
        calls = self.calls.complete(taken) if self.calls else ()
        message = Message(
            "assistant",
            "".join(self.text),
            tool_calls=calls,
            attachments=tuple(self.attachments),
            thoughts=self.thoughts.complete(model, has_calls=bool(calls)),
            model_state=self.state,
        )
        reason = self.finish_reason or "stop"
        return Reply(message, reason, self.spent(model), tuple(self.annotations), model)

    def spent(self, model: str) -> tuple[ModelUsage, ...]:
        """The usage by model, entries without a name under the deployment; () for none."""
        model = self.deployment or model
        if (usage := self.usage) is None:
            return ()
        if usage.per_model:
            return tuple(one if one.model else replace(one, model=model) for one in usage.per_model)
        counts = (usage.input, usage.output, usage.cached, usage.created, usage.reasoning)
        return (ModelUsage(model, *counts),)


def show_once(attachment: Attachment, emit: Emit, shown: set[str]) -> None:
    """Show an attachment on the answer, unless one of the same URL is there already."""
    if attachment.url is not None:
        if attachment.url in shown:
            return
        shown.add(attachment.url)
    emit(AttachmentAdded(attachment))
