"""Defines the stages that show tool calls.

A `with` block opens a stage and closes it at its end. A stage can open earlier, while the model
writes the call, and close later.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from apps.agent.call_arguments import object_texts
from apps.agent.events import (
    Emit,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
)
from apps.agent.growing_arguments import ArgumentText, ObjectEnd
from apps.agent.messages import Attachment, ModelMessage, ToolCall
from apps.agent.surrogates import well_formed

FENCE = "````"
MOST_CHARACTERS = 4_000
"""The maximum number of characters that a stage shows of an argument, both while it arrives and
when it is complete.
"""


@dataclass(slots=True, eq=False)
class Stage:
    """An open stage."""

    id: str
    emit: Emit
    excused: bool = False
    """True if the tool failed, but the run continues with a result that describes the failure."""

    def write(self, text: str) -> None:
        """Append Markdown to the stage."""
        if text:
            self.emit(StageDelta(self.id, well_formed(text)))

    def attach(self, attachment: Attachment) -> None:
        self.emit(StageAttachment(self.id, attachment))

    def rename(self, suffix: str) -> None:
        """Append `suffix` to the title of the stage."""
        if suffix:
            self.emit(StageRenamed(self.id, well_formed(suffix)))


def silent(event: object) -> None:
    """Ignore the event. This is the `emit` function of work that users do not see."""


SILENT = Stage("", silent)


@contextmanager
def open_stage(
    emit: Emit,
    stage_id: str,
    title: str,
    parent_id: str | None = None,
    *,
    is_timed: bool = False,
    tool: str = "",
) -> Iterator[Stage]:
    """Open a stage. The end of the block closes it, as failed after an exception."""
    started = time.monotonic()
    emit(StageOpened(stage_id, title, parent_id, tool=tool))
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
    """Options of a tool whose stage opens before the call is complete."""

    title: str
    """The part of the stage's title that does not depend on arguments."""
    argument: str = ""
    """The string argument that is shown while it arrives, or ""."""
    lead: str = ""
    """The text before the argument. It ends with the `FENCE` that opens a code block."""


class DeferredStages:
    """The stages of tool calls that stay open until the model has answered the results. An
    exception that leaves the block closes them as failed.
    """

    def __init__(self) -> None:
        self.open: dict[str, Stage] = {}

    @cached_property
    def blocks(self) -> ExitStack:
        # Created on first use, because otherwise each waiting stream would have an exit stack.
        return ExitStack()

    def keep(self, stage: Stage, block: AbstractContextManager[object]) -> None:
        """Leave the stage open, and exit its `block` when all deferred stages are closed."""
        self.blocks.push(block)
        self.open[stage.id] = stage

    def call_at_end(self, function: Callable[[], object]) -> None:
        """Call the function when the deferred stages are closed."""
        self.blocks.callback(function)

    def show_changes(self, before: Sequence[ModelMessage], after: Sequence[ModelMessage]) -> None:
        """Append each tool result that differs between `before` and `after` to its open stage."""
        earlier = {message.tool_call_id: message.text for message in before}
        for message in after:
            stage = self.open.get(message.tool_call_id or "")
            if stage is not None and message.text != earlier.get(message.tool_call_id):
                stage.write(f"\n\n{message.text}\n")

    def close(self) -> None:
        self.__exit__(None, None, None)
        self.open.clear()

    def __enter__(self) -> DeferredStages:
        return self

    def __exit__(self, *raised: Any) -> None:
        if "blocks" in vars(self):
            self.blocks.__exit__(*raised)


@dataclass(slots=True)
class GrowingCall:
    """A tool call that the model is still writing. Some services give several calls the same
    `index`.
    """

    index: int
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    end: ObjectEnd = field(default_factory=ObjectEnd)

    @property
    def is_complete(self) -> bool:
        """Return True if the arguments received so far are a JSON object."""
        return self.end.is_reached(self.arguments)

    def has_received(self, arguments: str) -> bool:
        """Return True if the arguments received so far are exactly `arguments`."""
        return len(arguments) == self.end.length and arguments == "".join(self.arguments)

    @property
    def has_placeholder(self) -> bool:
        """Return True if the only text received so far is an empty object, which some services send
        before the arguments.
        """
        return len(self.arguments) == 1 and self.arguments[0].strip() == "{}"

    def becomes(self, call: ToolCall) -> bool:
        """Return True if `call` is the complete form of this call."""
        return (self.name, object_texts(self.arguments)[0]) == (call.name, call.arguments)


class EarlyStage:
    """A stage that opens while the arguments of its call still arrive. When the call is executed,
    it uses the same stage.
    """

    def __init__(self, call: GrowingCall, announcement: Announcement, emit: Emit) -> None:
        self.call = call
        self.announcement = announcement
        self.stage = Stage(call.id, emit)
        self.started = time.monotonic()
        self.is_adopted = False
        self.reader = ArgumentText(announcement.argument) if announcement.argument else None
        self.shown = ""
        emit(StageOpened(call.id, announcement.title, tool=call.name))

    def feed(self, part: str) -> None:
        if self.reader is None:
            return
        added = self.reader.feed(part)[: MOST_CHARACTERS - len(self.shown)]
        if not added:
            return
        if FENCE in self.shown[-len(FENCE) :] + added:  # a fence would close the code block
            self.reader = None
            return
        self.stage.write(added if self.shown else self.announcement.lead + added)
        self.shown += added

    @contextmanager
    def adopted(self, title: str) -> Iterator[Stage]:
        """Show the execution of the call in this stage, as `open_stage` would, and append the rest
        of the title.
        """
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
    """The stages of an answer that open before their calls are complete. Stages that are still
    unused at the end of the block close as failed.
    """

    def __init__(
        self,
        announced: Callable[[str], Announcement | None],
        messages: Sequence[ModelMessage],
        emit: Emit,
    ) -> None:
        self.announced = announced
        """The function that returns a tool's announcement, or None if its stage does not open
        early.
        """
        self.messages = messages
        """If a call has the same ID as a call in these messages, its stage does not open early."""
        self.emit = emit
        self.open: dict[str, EarlyStage] = {}

    def feed(self, call: GrowingCall, part: str) -> None:
        """Show a part of the call's arguments. The call's name must be complete."""
        stage = self.open.get(call.id) or self.begin(call)
        if stage is not None and stage.call is call:
            stage.feed(part)

    def begin(self, call: GrowingCall) -> EarlyStage | None:
        announcement = self.announced(call.name) if call.id and len(call.arguments) == 1 else None
        if announcement is None or call.id in self.used_ids:
            return None
        stage = self.open[call.id] = EarlyStage(call, announcement, self.emit)
        return stage

    @cached_property
    def used_ids(self) -> Set[str]:
        return {call.id for message in self.messages for call in message.tool_calls}

    @contextmanager
    def claim(self, call: ToolCall) -> Iterator[EarlyStage | None]:
        """Yield the early stage of a call that is about to be executed, or None if it has none."""
        stage = self.open.get(call.id)
        if stage is None or not stage.call.becomes(call):
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
