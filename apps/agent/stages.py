"""Stages of tool calls: `with` blocks around visible work, which may open early or close late."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field

from apps.agent.argument_text import ArgumentText
from apps.agent.events import (
    Emit,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
)
from apps.agent.messages import Attachment, Message, ToolCall
from apps.agent.surrogates import well_formed

FENCE = "````"
MOST_CHARACTERS = 4_000
"""Of an argument that is shown while it arrives; as much as a stage shows of a complete one."""


@dataclass(slots=True, eq=False)
class Stage:
    """`excused`: the work failed, but the run goes on with a result that was made of the failure."""

    id: str
    emit: Emit
    excused: bool = False

    def write(self, text: str) -> None:
        """Continue the stage with Markdown."""
        if text:
            self.emit(StageDelta(self.id, well_formed(text)))

    def attach(self, attachment: Attachment) -> None:
        self.emit(StageAttachment(self.id, attachment))

    def rename(self, suffix: str) -> None:
        """Append to the title."""
        if suffix:
            self.emit(StageRenamed(self.id, well_formed(suffix)))


def silent(event: object) -> None:
    """The `emit` of work that is not shown."""


SILENT = Stage("", silent)


@contextmanager
def open_stage(
    emit: Emit,
    stage_id: str,
    title: str,
    parent_id: str | None = None,
    *,
    is_timed: bool = False,
) -> Iterator[Stage]:
    """Open a stage; leaving the block closes it, as failed if an exception is passing."""
    started = time.monotonic()
    emit(StageOpened(stage_id, title, parent_id))
    stage = Stage(stage_id, emit)
    failed = True
    try:
        yield stage
        failed = False
    finally:
        seconds = time.monotonic() - started
        emit(StageClosed(stage_id, seconds, failed, is_timed, stage.excused))


@dataclass(frozen=True, slots=True)
class Announcement:
    """How the stage of a tool begins: the part of its title that no argument changes.

    The text of the string `argument` is written into the stage while it arrives, "" for none;
    `lead` goes in front of it and ends with the beginning of a code block of `FENCE`.
    """

    title: str
    argument: str = ""
    lead: str = ""


@dataclass(slots=True)
class GrowingCall:
    """A call that the model is still writing; some services give several the same `index`."""

    index: int
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class EarlyStage:
    """The open stage of a call whose arguments still arrive. The call adopts it when it is made."""

    def __init__(self, call: GrowingCall, announcement: Announcement, emit: Emit) -> None:
        self.call = call
        self.announcement = announcement
        self.stage = Stage(call.id, emit)
        self.started = time.monotonic()
        self.is_adopted = False
        self.reader = ArgumentText(announcement.argument) if announcement.argument else None
        self.shown = ""
        emit(StageOpened(call.id, announcement.title))

    def feed(self, piece: str) -> None:
        if self.reader is None:
            return
        added = self.reader.feed(piece)[: MOST_CHARACTERS - len(self.shown)]
        if not added:
            return
        if FENCE in self.shown[-len(FENCE) :] + added:  # it would end the code block
            self.reader = None
            return
        self.stage.write(added if self.shown else self.announcement.lead + added)
        self.shown += added

    @contextmanager
    def adopted(self, title: str) -> Iterator[Stage]:
        """As `open_stage`, with the rest of the whole title."""
        self.is_adopted = True
        failed = True
        try:
            self.stage.rename(title.removeprefix(self.announcement.title))
            yield self.stage
            failed = False
        finally:
            self.close(failed=failed)

    def close(self, *, failed: bool) -> None:
        seconds = time.monotonic() - self.started
        stage = self.stage
        stage.emit(StageClosed(stage.id, seconds, failed, self.is_adopted, stage.excused))


class EarlyStages:
    """The early stages of one model answer; leaving the block closes the unadopted ones as failed.

    `announced` finds a tool's announcement by name, None when its stage does not open early. The
    ids of calls in `messages`, which the model was asked with, are taken.
    """

    def __init__(
        self,
        announced: Callable[[str], Announcement | None],
        messages: Sequence[Message],
        emit: Emit,
    ) -> None:
        self.announced = announced
        self.messages = messages
        self.emit = emit
        self.open: dict[str, EarlyStage] = {}

    def feed(self, call: GrowingCall, piece: str) -> None:
        """Show a piece of the arguments: the name is complete by then."""
        stage = self.open.get(call.id) or self.begin(call)
        if stage is not None and stage.call is call:
            stage.feed(piece)

    def begin(self, call: GrowingCall) -> EarlyStage | None:
        announcement = self.announced(call.name) if call.id and len(call.arguments) == 1 else None
        if announcement is None or self.is_taken(call.id):
            return None
        stage = self.open[call.id] = EarlyStage(call, announcement, self.emit)
        return stage

    def is_taken(self, id: str) -> bool:
        return any(call.id == id for message in self.messages for call in message.tool_calls)

    @contextmanager
    def taken(self, call: ToolCall) -> Iterator[EarlyStage | None]:
        """The stage of a call that is about to be made; None if it has none."""
        stage = self.open.get(call.id)
        if stage is None or (stage.call.name, "".join(stage.call.arguments)) != (
            call.name,
            call.arguments,
        ):
            yield None
            return
        del self.open[call.id]
        try:
            yield stage
        finally:
            if not stage.is_adopted:
                stage.close(failed=True)

    def __enter__(self) -> EarlyStages:
        return self

    def __exit__(self, *raised: object) -> None:
        for stage in self.open.values():
            stage.close(failed=True)
        self.open.clear()


class DeferredStages(ExitStack):
    """Stages of a run's tool calls that stay open until the model has answered the results.

    An exception that leaves the block closes them as failed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.open: dict[str, Stage] = {}

    def keep(self, stage: Stage, block: AbstractContextManager[object]) -> None:
        """Leave the block of the stage later."""
        self.push(block)
        self.open[stage.id] = stage

    def show_changes(self, before: Sequence[Message], after: Sequence[Message]) -> None:
        """Write into the open stages what their results say after the messages were rewritten."""
        earlier = {message.tool_call_id: message.text for message in before}
        for message in after:
            stage = self.open.get(message.tool_call_id or "")
            if stage is not None and message.text != earlier.get(message.tool_call_id):
                stage.write(f"\n\n{message.text}\n")

    def close(self) -> None:
        super().close()
        self.open.clear()
