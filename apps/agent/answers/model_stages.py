"""Displays the stages that a model reports while it answers."""

from __future__ import annotations

import logging
import time
from dataclasses import replace

from apps.agent.events import (
    Emit,
    Reasoning,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageEvent,
    StageOpened,
    StageRenamed,
)
from apps.agent.model import StagePart

logger = logging.getLogger(__name__)

THINKING = "Thinking"
"""The title of a stage that shows reasoning."""


class ModelStages:
    """Emits the stages that a model reports as stages of the run.

    The first text or tool call closes the open stages. The end of the `with` block closes the
    others, as failed after an exception.

    If `parent_id` is set, the model is an application. Its stages are nested in that stage, close
    by themselves, and may have no names.
    """

    def __init__(self, emit: Emit, prefix: str, parent_id: str | None = None) -> None:
        self.emit = emit
        self.prefix = prefix
        self.parent_id = parent_id
        self.open: dict[int | str, float] = {}
        """The start time of each open stage, by the model's index or the application's ID."""
        self.thought = ""
        """The key of the open stage that shows reasoning, or "" if there is none."""
        self.thoughts = 0
        self.shown: dict[int | str, bool] = {}
        """Maps each stage to True if it is shown, or to False if it began without a name."""

    def feed(self, part: StagePart) -> None:
        index = part.index
        stage_id = f"{self.prefix}{index}"
        if index in self.open:
            if part.name:
                self.emit(StageRenamed(stage_id, part.name))
        elif name := part.name or self.default_name(index):
            self.begin(index, name, part.parent_index)
        else:  # already closed, or without a name
            if index not in self.shown:
                self.shown[index] = False
                logger.warning("Skipped stage %d of a model: it has no name", index)
            return
        if part.content:
            self.emit(StageDelta(stage_id, part.content))
        for attachment in part.attachments:
            self.emit(StageAttachment(stage_id, attachment))
        if part.failed is not None:
            self.close_one(index, failed=part.failed)

    def relay(self, event: StageEvent) -> None:
        """Emit an event of an application's stage, unless that stage is already closed."""
        if isinstance(event, StageOpened):
            self.begin(event.stage_id, event.title, event.parent_id)
        elif event.stage_id not in self.open:
            return
        elif isinstance(event, StageClosed):
            self.close_one(event.stage_id, failed=event.failed)
        else:
            stage_id = f"{self.prefix}{event.stage_id}"
            match event:
                case StageDelta(_, text) | Reasoning(_, text):
                    self.emit(StageDelta(stage_id, text))
                case _:
                    self.emit(replace(event, stage_id=stage_id))

    def begin(self, key: int | str, name: str, parent: int | str | None) -> None:
        is_below = parent is not None and self.shown.get(parent)
        parent_id = f"{self.prefix}{parent}" if is_below else self.parent_id
        self.shown[key] = True
        self.open[key] = time.monotonic()
        self.emit(StageOpened(f"{self.prefix}{key}", name, parent_id))

    def default_name(self, index: int) -> str:
        """Return a numbered name for an unnamed stage of an application, or "" for an unnamed stage
        of a model, which stays hidden.
        """
        is_new = not self.shown.get(index)
        return f"Stage {index + 1}" if self.parent_id is not None and is_new else ""

    def think(self, text: str) -> None:
        # Nested reasoning is not that of this run's own model.
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
        """Close the model's stages, because text or a tool call has arrived. If the model is an
        application, close only stages that show reasoning.
        """
        if self.parent_id is None:
            self.close()
        elif self.thought:
            self.close_one(self.thought, failed=False)

    def close(self, *, failed: bool = False) -> None:
        for index in reversed(list(self.open)):
            self.close_one(index, failed=failed)

    def __enter__(self) -> ModelStages:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close(failed=error is not None)
