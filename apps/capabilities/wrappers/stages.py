"""The stage of a tool call: opened around the work, if its application shows it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from apps.agent.events import Emit, Event
from apps.agent.stages import SILENT, Stage, open_stage, silent
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.display import Display
from apps.capabilities.wrappers.prepared import PreparedTool


class HeldBack:
    """Keeps what is emitted to itself until something fails."""

    def __init__(self, emit: Emit) -> None:
        self.emit = emit
        self.events: list[Event] | None = []

    def __call__(self, event: Event) -> None:
        if self.events is None:
            self.emit(event)
        else:
            self.events.append(event)

    def reveal(self) -> None:
        held, self.events = self.events or [], None
        for event in held:
            self.emit(event)


def with_stage(tool: PreparedTool, display: Display) -> PreparedTool:
    """Show the call as the display says; the inner work finds the stage in its invocation."""

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        with shown(display, opening, invocation) as visible:
            return await tool.work(opening, visible)

    return replace(tool, work=work)


@contextmanager
def shown(display: Display, opening: Opening, invocation: Invocation) -> Iterator[Invocation]:
    """The invocation with its stage, opened with title and request."""
    if display.visibility == "never":
        yield replace(invocation, emit=silent, stage=SILENT)
        return
    held = HeldBack(invocation.emit) if display.visibility == "failures" else None
    emit = held or invocation.emit
    title = display.title(invocation.arguments, opening.caller.locale)
    try:
        with open_stage(emit, invocation.id, title) as stage:
            stage.write(display.request(invocation.arguments))
            yield replace(invocation, emit=emit, stage=stage)
    except BaseException:
        if held is not None:
            held.reveal()
        raise


def show_failure(stage: Stage, markdown: str) -> None:
    """Write an error, and make the stage visible if only failures are shown."""
    if isinstance(stage.emit, HeldBack):
        stage.emit.reveal()
    stage.write(markdown)
