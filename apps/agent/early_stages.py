"""Stages of tool calls that open while the model still writes the call."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from apps.agent.argument_text import ArgumentText
from apps.agent.call_arguments import object_texts
from apps.agent.events import Emit, StageClosed, StageOpened
from apps.agent.messages import Message, ToolCall
from apps.agent.object_end import ObjectEnd
from apps.agent.stages import FENCE, MOST_CHARACTERS, Announcement, Stage


@dataclass(slots=True)
class GrowingCall:
    """A call that the model is still writing; some services give several the same `index`."""

    index: int
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    end: ObjectEnd = field(default_factory=ObjectEnd)

    @property
    def is_complete(self) -> bool:
        """Return whether the arguments so far are a JSON object."""
        return self.end.is_reached(self.arguments)

    def has_said(self, arguments: str) -> bool:
        """Return whether these are the arguments of the call, which is complete."""
        return len(arguments) == self.end.length and arguments == "".join(self.arguments)

    @property
    def has_placeholder(self) -> bool:
        """Return whether the only piece is an empty object, which some services write first."""
        return len(self.arguments) == 1 and self.arguments[0].strip() == "{}"

    def becomes(self, call: ToolCall) -> bool:
        """Return whether the complete call is this one."""
        return (self.name, object_texts(self.arguments)[0]) == (call.name, call.arguments)


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
        if announcement is None or call.id in self.taken_ids:
            return None
        stage = self.open[call.id] = EarlyStage(call, announcement, self.emit)
        return stage

    @cached_property
    def taken_ids(self) -> Set[str]:
        return {call.id for message in self.messages for call in message.tool_calls}

    @contextmanager
    def taken(self, call: ToolCall) -> Iterator[EarlyStage | None]:
        """The stage of a call that is about to be made; None if it has none."""
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
