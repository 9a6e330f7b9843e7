"""Stages of tool calls: `with` blocks around visible work, which may open early or close late."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass

from apps.agent.events import (
    Emit,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
)
from apps.agent.messages import Attachment, Message
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
