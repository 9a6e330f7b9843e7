"""A stage is a `with` block around a piece of visible work."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from apps.agent.events import (
    Emit,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
)
from apps.agent.messages import Attachment
from apps.agent.surrogates import whole


@dataclass(slots=True, eq=False)
class Stage:
    """`excused`: the work failed, and somebody made a result of it with which the run goes on."""

    id: str
    emit: Emit
    excused: bool = False

    def write(self, text: str) -> None:
        """Continue the stage with Markdown."""
        if text:
            self.emit(StageDelta(self.id, whole(text)))

    def attach(self, attachment: Attachment) -> None:
        self.emit(StageAttachment(self.id, attachment))

    def rename(self, suffix: str) -> None:
        """Append to the title."""
        if suffix:
            self.emit(StageRenamed(self.id, whole(suffix)))


def silent(event: object) -> None:
    """Swallow an event: the `emit` of work that is not shown."""


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
