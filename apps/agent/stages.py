"""Defines the stages that show visible work, such as tool calls.

A `with` block opens a stage and closes it when the block ends.
"""

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
from apps.agent.surrogates import well_formed

FENCE = "````"
MOST_CHARACTERS = 4_000
"""The maximum number of characters of an argument that a stage shows, both while the argument is
arriving and when it is complete.
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
    """Ignore the event. This is the `emit` function for work that users do not see."""


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
    """Open a stage, and close it at the end of the block (as failed after an exception)."""
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
    """Options for a tool whose stage opens before the call is complete."""

    title: str
    """The part of the stage's title that does not depend on arguments."""
    argument: str = ""
    """The string argument that is shown while it is arriving, or ""."""
    lead: str = ""
    """The text before the argument. It ends with the `FENCE` that opens a code block."""
