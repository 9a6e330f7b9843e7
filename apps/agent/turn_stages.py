"""Shows the stages of a turn: the stages that the model reports, the stages of tool calls that the
model is still writing, and the stages that stay open until the model has answered their results.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

from apps.agent.answers.tool_calls import GrowingCall
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
from apps.agent.growing_arguments import ArgumentText
from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.model import StagePart
from apps.agent.stages import FENCE, MOST_CHARACTERS, Announcement, Stage

logger = logging.getLogger(__name__)

THINKING = "Thinking"
"""The title of a stage that shows reasoning."""


class ModelStages:
    """Emits the stages that a model reports as stages of the run.

    The first text or tool call closes the open stages. The end of the `with` block closes the
    others. After an exception, they close as failed.

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
        # Nested reasoning does not come from this run's own model.
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
        is_thought = index == self.thought
        if is_thought:
            self.thought = ""
        stage_id = f"{self.prefix}{index}"
        self.emit(StageClosed(stage_id, seconds, failed, is_thought=is_thought))

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


class EarlyStage:
    """A stage that opens while the arguments of its call are still arriving. When the call is
    executed, it uses the same stage.
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
        """Show the next chunk of the call's arguments. The call's name must already be complete."""
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
