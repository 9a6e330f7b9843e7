"""One answer of a model, put together from the pieces that it streams."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from apps.agent.early import EarlyStages
from apps.agent.events import (
    AttachmentAdded,
    Emit,
    ModelUsage,
    RefusalDelta,
    TextDelta,
)
from apps.agent.messages import Attachment, Message, ToolCall, attachment_from_dict
from apps.agent.model import (
    Chunk,
    CustomContent,
    Delta,
    Statistics,
    TokenUsage,
    ToolCallDelta,
)
from apps.agent.model_stages import ModelStages
from apps.agent.room import Room
from apps.agent.spending import spent
from apps.agent.thoughts import kept, thought_in

logger = logging.getLogger(__name__)

MODEL_STATE = "orchestrator"
"""The key under which the state of the model itself is kept beside ours."""
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
    """Collects the chunks of one answer and emits what can be shown at once.

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
        self.has_custom = False
        self.usage: TokenUsage | None = None
        self.statistics: Statistics | None = None

    @property
    def has_begun(self) -> bool:
        """Whether something of the answer is there: services begin with a chunk that is empty."""
        return bool(
            self.text or self.calls or self.has_custom or self.annotations or self.finish_reason
        ) or (bool(self.thoughts) or self.usage is not None or self.statistics is not None)

    def feed(self, chunk: Chunk) -> None:
        if chunk.usage is not None:
            self.usage = chunk.usage
        if chunk.statistics is not None:
            self.statistics = chunk.statistics
        for choice in chunk.choices:
            if self.shows_logprobs and isinstance(choice.logprobs, dict):
                self.feed_with_logprobs(choice.delta or Delta(), choice.logprobs)
            elif choice.delta is not None:
                self.feed_delta(choice.delta)
            if choice.finish_reason:
                self.finish_reason = choice.finish_reason

    def feed_with_logprobs(self, delta: Delta, logprobs: dict[str, Any]) -> None:
        """The text and what is told of its tokens stay together."""
        self.room.take_data(logprobs)
        self.feed_delta(delta, logprobs)
        if not delta.content:
            self.emit(TextDelta("", logprobs))

    def feed_delta(self, delta: Delta, logprobs: Mapping[str, Any] | None = None) -> None:
        if delta.custom_content is not None:
            self.feed_custom(delta.custom_content)
        if delta.custom_fields is not None:
            found = annotations_of(delta.custom_fields)
            self.room.take_data(found)
            self.annotations += found
        if (
            delta.reasoning_content is not None
            or delta.reasoning is not None
            or delta.thinking is not None
        ):
            self.feed_reasoning(delta)
        if text := delta.content:
            self.room.left -= len(text)
            self.say(text if self.room.left >= 0 else self.room.fitting(text), logprobs)
        if delta.refusal and isinstance(delta.refusal, str):
            self.room.left -= len(delta.refusal)
            self.say(self.room.fitting(delta.refusal), is_refusal=True)
        if delta.tool_calls:
            for call in delta.tool_calls:
                self.feed_call(call)

    def say(
        self, text: str, logprobs: Mapping[str, Any] | None = None, *, is_refusal: bool = False
    ) -> None:
        """A refusal is the answer's text too, for all that read it later."""
        if not self.is_speaking:
            self.begin_text()
        self.text.append(text)
        self.emit(RefusalDelta(text) if is_refusal else TextDelta(text, logprobs))

    def begin_text(self) -> None:
        self.is_speaking = True
        if self.stages is not None:
            self.stages.give_way()
        if self.lead and not self.text:
            self.emit(TextDelta(self.lead))

    def feed_reasoning(self, delta: Delta) -> None:
        name, text = thought_in(delta)
        if name and (text or not self.thoughts_name):
            self.thoughts_name = name
        if not text:
            return
        self.room.left -= len(text)
        self.thoughts.append(text)
        if self.stages is not None:
            self.is_speaking = False
            self.stages.think(self.room.fitting(text))

    def feed_custom(self, custom: CustomContent) -> None:
        self.has_custom = True
        self.room.take_custom(custom)
        for written in custom.attachments or ():
            attachment = attachment_from_dict(written)
            self.attachments.append(attachment)
            show_once(attachment, self.emit, self.shown)
        if custom.state:
            self.state |= custom.state
        if custom.stages and self.stages is not None:
            self.stages.feed(custom.stages)

    def feed_call(self, delta: ToolCallDelta) -> None:
        call = self.growing.get(delta.index)
        if call is None or (delta.id and call.id and delta.id != call.id):
            call = self.find_call(delta)
        call.id = call.id or delta.id or ""
        if delta.function is not None:
            name = delta.function.name or ""
            call.name += name
            self.room.left -= 1 + len(name) + len(delta.function.arguments or "")
            if delta.function.arguments:
                call.arguments.append(delta.function.arguments)
                if self.early is not None:
                    self.early.feed(call, delta.function.arguments)

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
        self.say(f"\n\n{self.room.notice}" if self.text else self.room.notice)

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
        state = {MODEL_STATE: self.state} if self.state else {}
        if calls:
            state |= kept(model, self.thoughts_name, "".join(self.thoughts))
        message = Message(
            "assistant",
            "".join(self.text),
            tool_calls=calls,
            attachments=tuple(self.attachments),
            state=state,
        )
        return Reply(
            message,
            self.finish_reason or "stop",
            self.spent(model),
            tuple(self.annotations),
        )

    def spent(self, model: str) -> tuple[ModelUsage, ...]:
        return spent(model, self.usage, self.statistics)


def annotations_of(fields: Any) -> list[Mapping[str, Any]]:
    """The annotations in the `custom_fields` of a delta; [] for whatever else these are."""
    written = fields.get("annotations") if isinstance(fields, Mapping) else None
    return [one for one in written if isinstance(one, Mapping)] if isinstance(written, list) else []


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
