"""Stages of tool calls that open while the model still writes their arguments."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol

from apps.agent.argument_text import ArgumentText
from apps.agent.events import Emit, StageClosed, StageOpened
from apps.agent.messages import Message, ToolCall
from apps.agent.stages import Stage

FENCE = "````"
MOST_CHARACTERS = 4_000
"""Of the argument; as much as a stage shows of one that arrives whole."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """How the stage of a tool begins: the part of its title that no argument changes.

    The text of the string `argument` is written into the stage while it arrives, "" for none;
    `lead` goes in front of it and ends with the beginning of a code block of `FENCE`.
    """

    title: str
    argument: str = ""
    lead: str = ""


class Growing(Protocol):
    """A call that is still being written."""

    id: str
    name: str
    arguments: list[str]


class EarlyStage:
    """The open stage of a call that is not complete yet, until whoever makes the call adopts it."""

    def __init__(self, call: Growing, announcement: Announcement, emit: Emit) -> None:
        self.call = call
        self.announcement = announcement
        self.stage = Stage(call.id, emit)
        self.started = time.monotonic()
        self.is_adopted = False
        self.reader = ArgumentText(announcement.argument) if announcement.argument else None
        self.shown = ""
        emit(StageOpened(call.id, announcement.title))

    def feed(self, piece: str) -> None:
        """Show what the piece adds, unless it could not be closed again."""
        if self.reader is None:
            return
        added = self.reader.feed(piece)[: MOST_CHARACTERS - len(self.shown)]
        if not added:
            return
        if FENCE in self.shown[-len(FENCE) :] + added:
            self.reader = None
            return
        self.stage.write(added if self.shown else self.announcement.lead + added)
        self.shown += added

    @contextmanager
    def adopted(self, title: str) -> Iterator[Stage]:
        """As `open_stage`, for the whole title: the stage gets what is missing of it."""
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


Announced = Callable[[str], Announcement | None]
"""By the name of a tool; None when its stage does not open early."""


class EarlyStages:
    """Those of one answer of a model; what nobody adopts is closed as failed.

    That is when the block of this ends. `messages` are what the model was asked with: ids of calls
    in them stand for those calls.
    """

    def __init__(self, announced: Announced, messages: Sequence[Message], emit: Emit) -> None:
        self.announced = announced
        self.messages = messages
        self.emit = emit
        self.open: dict[str, EarlyStage] = {}

    def feed(self, call: Growing, piece: str) -> None:
        """A piece of the arguments: the name is complete by then."""
        stage = self.open.get(call.id) or self.begin(call)
        if stage is not None and stage.call is call:
            stage.feed(piece)

    def begin(self, call: Growing) -> EarlyStage | None:
        announcement = self.announced(call.name) if call.id and len(call.arguments) == 1 else None
        if announcement is None or self.is_taken(call.id):
            return None
        stage = self.open[call.id] = EarlyStage(call, announcement, self.emit)
        return stage

    def is_taken(self, id: str) -> bool:
        return any(call.id == id for message in self.messages for call in message.tool_calls)

    @contextmanager
    def taken(self, call: ToolCall) -> Iterator[EarlyStage | None]:
        """The stage of a call that is about to be made."""
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for stage in self.open.values():
            stage.close(failed=True)
        self.open.clear()
