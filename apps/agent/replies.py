"""One answer of a model, put together from the pieces that it streams."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager, aclosing, nullcontext
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from apps.agent.early import EarlyStages
from apps.agent.events import (
    AttachmentAdded,
    Emit,
    ModelUsage,
    TextDelta,
)
from apps.agent.messages import Attachment, Message, ToolCall, attachment_from_dict
from apps.agent.model import (
    Chunk,
    CustomContent,
    Delta,
    Model,
    ModelRequest,
    Statistics,
    TokenUsage,
    ToolCallDelta,
)
from apps.agent.model_stages import ModelStages
from apps.agent.room import Room
from apps.agent.tools import Spend, unpaid
from apps.errors import ModelFailed, QuickAppError

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
    cut, and asks for no tools.
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
    ) -> None:
        self.emit = emit
        self.room = Room() if room is None else room
        self.early = early
        self.lead = lead
        self.stages = stages
        self.shown = set() if shown is None else shown
        self.text: list[str] = []
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
        ) or (self.usage is not None or self.statistics is not None)

    def feed(self, chunk: Chunk) -> None:
        if chunk.usage is not None:
            self.usage = chunk.usage
        if chunk.statistics is not None:
            self.statistics = chunk.statistics
        for choice in chunk.choices:
            if choice.delta is not None:
                self.feed_delta(choice.delta)
            if choice.finish_reason:
                self.finish_reason = choice.finish_reason

    def feed_delta(self, delta: Delta) -> None:
        if delta.custom_content is not None:
            self.feed_custom(delta.custom_content)
        if delta.custom_fields is not None:
            found = annotations_of(delta.custom_fields)
            self.room.take_data(found)
            self.annotations += found
        if text := delta.content:
            self.room.left -= len(text)
            self.say(text if self.room.left >= 0 else self.room.fitting(text))
        if delta.tool_calls:
            for call in delta.tool_calls:
                self.feed_call(call)

    def say(self, text: str) -> None:
        if not self.text:
            self.begin_text()
        self.text.append(text)
        self.emit(TextDelta(text))

    def begin_text(self) -> None:
        if self.stages is not None:
            self.stages.give_way()
        if self.lead:
            self.emit(TextDelta(self.lead))

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
        message = Message(
            "assistant",
            "".join(self.text),
            tool_calls=calls,
            attachments=tuple(self.attachments),
            state={MODEL_STATE: self.state} if self.state else {},
        )
        return Reply(
            message,
            self.finish_reason or "stop",
            self.spent(model),
            tuple(self.annotations),
        )

    def spent(self, model: str) -> tuple[ModelUsage, ...]:
        if self.statistics is not None and self.statistics.usage_per_model:
            return tuple(
                ModelUsage(item.model or model, item.prompt_tokens, item.completion_tokens)
                for item in self.statistics.usage_per_model
            )
        if self.usage is None:
            return ()
        return (ModelUsage(model, self.usage.prompt_tokens, self.usage.completion_tokens),)


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


async def ask(
    model: Model,
    request: ModelRequest,
    emit: Emit,
    *,
    name: str,
    stage_prefix: str | None = None,
    stage_parent: str | None = None,
    spend: Spend = unpaid,
    room: Room | None = None,
) -> Reply:
    """Ask once and show the answer while it arrives.

    `name` is the deployment's, for the usage; `stage_prefix` begins the ids of the model's own
    stages, and None hides them; below `stage_parent` they are shown as those of a sub-application
    are; `spend` is told what an answer cost that breaks off. Raises `ModelFailed`.
    """
    stages = ModelStages(emit, stage_prefix, stage_parent) if stage_prefix is not None else None
    assembly = Assembly(emit, stages=stages, room=room)
    try:
        await receive(model, request, assembly)
    except BaseException:
        spend(assembly.spent(name))
        raise
    return assembly.reply(name, ids_of(request.messages))


async def receive(model: Model, request: ModelRequest, assembly: Assembly) -> None:
    """Feed the assembly everything that the model answers.

    Raises `ModelFailed`, also for an answer that cannot be read to its end.
    """
    with assembly.closing():
        try:
            async with aclosing(model.stream(request)) as batches:
                async for batch in batches:
                    for chunk in batch:
                        assembly.feed(chunk)
                    if assembly.room.is_full:
                        assembly.cut()
                        break
        except QuickAppError:
            raise
        except Exception as error:
            if not assembly.has_begun:
                raise
            logger.exception("The answer of a model could not be read")
            raise ModelFailed(
                "The stream of the completion could not be read.", reason="stream"
            ) from error


def ids_of(messages: Iterable[Message]) -> set[str]:
    """Of the calls: an answer may not use them again."""
    return {call.id for message in messages for call in message.tool_calls}
