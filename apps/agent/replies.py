"""One answer of a model, put together from the pieces that it streams."""

from __future__ import annotations

import time
import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from apps.agent.early import EarlyStages
from apps.agent.events import (
    AttachmentAdded,
    Emit,
    ModelUsage,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
    TextDelta,
)
from apps.agent.messages import Attachment, Message, ToolCall, attachment_from_dict
from apps.agent.model import (
    Chunk,
    CustomContent,
    Delta,
    Model,
    ModelRequest,
    StageDeltaPart,
    Statistics,
    TokenUsage,
    ToolCallDelta,
)

MODEL_STATE = "orchestrator"
"""The key under which the state of the model itself is kept beside ours."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete answer; `usage` is empty when the model did not report any."""

    message: Message
    finish_reason: str
    usage: tuple[ModelUsage, ...]


@dataclass(slots=True)
class GrowingCall:
    """`index` is the number that the service gave it, not always to it alone."""

    index: int
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class ModelStages:
    """The model's own stages ("thinking", the steps of a sub-application), shown as ours.

    They are closed completed as soon as the answer goes on, failed when the stream breaks. Those
    of a sub-application stand below the stage `parent_id`; there they last as long as it says,
    and need no names.
    """

    def __init__(self, emit: Emit, prefix: str, parent_id: str | None = None) -> None:
        self.emit = emit
        self.prefix = prefix
        self.parent_id = parent_id
        self.open: dict[int, float] = {}
        self.seen: set[int] = set()

    def feed(self, parts: Sequence[StageDeltaPart]) -> None:
        for position, part in enumerate(parts):
            self.feed_part(position if part.index is None else part.index, part)

    def feed_part(self, index: int, part: StageDeltaPart) -> None:
        stage_id = f"{self.prefix}{index}"
        if index in self.open:
            if part.name:
                self.emit(StageRenamed(stage_id, part.name))
        elif name := part.name or self.name_for(index):
            self.seen.add(index)
            self.open[index] = time.monotonic()
            self.emit(StageOpened(stage_id, name, self.parent_of(part)))
        else:
            return  # it is over already, or it cannot be shown without a name
        if part.content:
            self.emit(StageDelta(stage_id, part.content))
        for written in part.attachments or ():
            self.emit(StageAttachment(stage_id, attachment_from_dict(written)))
        if part.status:
            self.close_one(index, failed=part.status.lower() != "completed")

    def name_for(self, index: int) -> str:
        """What a stage is called that says no name; "" when it is not shown."""
        return f"Stage {index + 1}" if self.parent_id is not None and index not in self.seen else ""

    def parent_of(self, part: StageDeltaPart) -> str | None:
        """The stage that it says, if that one was shown, else the one that all stand below."""
        if part.parent_stage_index in self.seen:
            return f"{self.prefix}{part.parent_stage_index}"
        return self.parent_id

    def close_one(self, index: int, *, failed: bool) -> None:
        seconds = time.monotonic() - self.open.pop(index)
        self.emit(StageClosed(f"{self.prefix}{index}", seconds, failed))

    def give_way(self) -> None:
        """The answer goes on, so a model has done what it did before."""
        if self.parent_id is None:
            self.close()

    def close(self, *, failed: bool = False) -> None:
        for index in reversed(list(self.open)):
            self.close_one(index, failed=failed)

    @contextmanager
    def closing(self) -> Iterator[None]:
        failed = True
        try:
            yield
            failed = False
        finally:
            self.close(failed=failed)


class Assembly:
    """Collects the chunks of one answer and emits what can be shown at once.

    `lead` is emitted before the first text: what separates it from an earlier answer. `shown`
    are the URLs of attachments that need not be shown again.
    """

    def __init__(
        self,
        emit: Emit,
        *,
        lead: str = "",
        stages: ModelStages | None = None,
        shown: set[str] | None = None,
        early: EarlyStages | None = None,
    ) -> None:
        self.emit = emit
        self.early = early
        self.lead = lead
        self.stages = stages
        self.shown = set() if shown is None else shown
        self.text: list[str] = []
        self.calls: list[GrowingCall] = []
        self.growing: dict[int, GrowingCall] = {}
        self.attachments: list[Attachment] = []
        self.state: dict[str, Any] = {}
        self.finish_reason = ""
        self.usage: TokenUsage | None = None
        self.statistics: Statistics | None = None

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
        if delta.content:
            if not self.text:
                self.begin_text()
            self.text.append(delta.content)
            self.emit(TextDelta(delta.content))
        for call in delta.tool_calls or ():
            self.feed_call(call)

    def begin_text(self) -> None:
        if self.stages is not None:
            self.stages.give_way()
        if self.lead:
            self.emit(TextDelta(self.lead))

    def feed_custom(self, custom: CustomContent) -> None:
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
            call.name += delta.function.name or ""
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
        return Reply(message, self.finish_reason or "stop", self.spent(model))

    def spent(self, model: str) -> tuple[ModelUsage, ...]:
        if self.statistics is not None and self.statistics.usage_per_model:
            return tuple(
                ModelUsage(item.model or model, item.prompt_tokens, item.completion_tokens)
                for item in self.statistics.usage_per_model
            )
        if self.usage is None:
            return ()
        return (ModelUsage(model, self.usage.prompt_tokens, self.usage.completion_tokens),)


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
    lead: str = "",
    stage_prefix: str | None = None,
    stage_parent: str | None = None,
    shown: set[str] | None = None,
    early: EarlyStages | None = None,
) -> Reply:
    """Ask once and show the answer while it arrives.

    `name` is the deployment's, for the usage; `stage_prefix` begins the ids of the model's own
    stages, and None hides them; below `stage_parent` they are shown as those of a sub-application
    are; `shown` are URLs of attachments that the answer already has, to
    which it adds; `early` are the stages of the calls that it makes. Raises `ModelFailed`.
    """
    stages = ModelStages(emit, stage_prefix, stage_parent) if stage_prefix is not None else None
    assembly = Assembly(emit, lead=lead, stages=stages, shown=shown, early=early)
    with (stages or ModelStages(emit, "")).closing():
        async with aclosing(model.stream(request)) as batches:
            async for batch in batches:
                for chunk in batch:
                    assembly.feed(chunk)
    taken = {call.id for message in request.messages for call in message.tool_calls}
    return assembly.reply(name, taken)
