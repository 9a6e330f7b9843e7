"""Stages that a model opens itself."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from types import TracebackType

from apps.agent.events import (
    Emit,
    Reasoning,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
)
from apps.agent.messages import attachment_from_dict
from apps.agent.model import StageDeltaPart

logger = logging.getLogger(__name__)

THINKING = "Thinking"
"""The stage of what a model thinks, where its service tells it beside the answer."""


class ModelStages:
    """The model's own stages ("thinking", the steps of a sub-application), shown as ours.

    They are closed completed as soon as the answer goes on, failed when the stream breaks, and do
    not outlive the block of this. Those of a sub-application stand below the stage `parent_id`;
    there they last as long as it says, and need no names.
    """

    def __init__(self, emit: Emit, prefix: str, parent_id: str | None = None) -> None:
        self.emit = emit
        self.prefix = prefix
        self.parent_id = parent_id
        self.open: dict[int | str, float] = {}
        self.thought = ""
        """The open stage of what the model thinks, "" while it does not."""
        self.thoughts = 0
        self.shown: dict[int, bool] = {}
        """Whether each stage that was told of is or was shown; it has to have had a name."""

    def feed(self, parts: Sequence[StageDeltaPart]) -> None:
        for position, part in enumerate(parts):
            self.feed_part(position if part.index is None else part.index, part)

    def feed_part(self, index: int, part: StageDeltaPart) -> None:
        stage_id = f"{self.prefix}{index}"
        if index in self.open:
            if part.name:
                self.emit(StageRenamed(stage_id, part.name))
        elif name := part.name or self.name_for(index):
            self.shown[index] = True
            self.open[index] = time.monotonic()
            self.emit(StageOpened(stage_id, name, self.parent_of(part)))
        else:
            self.leave_out(index)
            return
        if part.content:
            self.emit(StageDelta(stage_id, part.content))
        for written in part.attachments or ():
            self.emit(StageAttachment(stage_id, attachment_from_dict(written)))
        if part.status:
            self.close_one(index, failed=part.status.lower() != "completed")

    def leave_out(self, index: int) -> None:
        """It is over already, or it cannot be shown without a name."""
        if index not in self.shown:
            self.shown[index] = False
            logger.warning("Stage %d of a model is not shown: it began without a name", index)

    def name_for(self, index: int) -> str:
        """What a stage is called that says no name; "" when it is not shown."""
        is_new = not self.shown.get(index)
        return f"Stage {index + 1}" if self.parent_id is not None and is_new else ""

    def parent_of(self, part: StageDeltaPart) -> str | None:
        """The stage that it says, if that one was shown, else the one that all stand below."""
        if part.parent_stage_index is not None and self.shown.get(part.parent_stage_index):
            return f"{self.prefix}{part.parent_stage_index}"
        return self.parent_id

    def think(self, text: str) -> None:
        """Below another stage it is one like the others: not this run's model thinks there."""
        is_nested = self.parent_id is not None
        if not self.thought:
            self.thoughts += 1
            self.thought = f"thinking-{self.thoughts}"
            self.open[self.thought] = time.monotonic()
            stage_id = f"{self.prefix}{self.thought}"
            self.emit(StageOpened(stage_id, THINKING, self.parent_id, not is_nested))
        kind = StageDelta if is_nested else Reasoning
        self.emit(kind(f"{self.prefix}{self.thought}", text))

    def close_one(self, index: int | str, *, failed: bool) -> None:
        seconds = time.monotonic() - self.open.pop(index)
        if index == self.thought:
            self.thought = ""
        self.emit(StageClosed(f"{self.prefix}{index}", seconds, failed))

    def give_way(self) -> None:
        """The answer goes on, so a model has done what it did before."""
        if self.parent_id is None:
            self.close()
        elif self.thought:
            self.close_one(self.thought, failed=False)

    def close(self, *, failed: bool = False) -> None:
        for index in reversed(list(self.open)):
            self.close_one(index, failed=failed)

    def __enter__(self) -> ModelStages:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(failed=error is not None)
