"""Shows each tool call in a stage (a section of the answer with a title), if the application
enables this.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import lru_cache, partial

from msgspec import structs

from apps.agent.events import Emit, Event
from apps.agent.stages import FENCE, MOST_CHARACTERS, Announcement, Stage, open_stage, silent
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Opening, PreparedTool
from apps.capabilities.wrappers.display import Display
from apps.capabilities.wrappers.value_texts import shorten_text, value_text
from apps.errors import ToolError


class DeferredEmit:
    """Collects events until `reveal` is called, and then forwards them."""

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


class StageFailed(Exception):
    """Raised to close a stage as failed. `result` is the result for the model."""

    def __init__(self, result: ToolResult) -> None:
        self.result = result


def with_stage(tool: PreparedTool, display: Display) -> PreparedTool:
    """Return a tool whose calls are shown in stages.

    A failed call with a result for the model does not mark its stage as failed. The exception is a
    stage with a partial answer, which must not look complete.
    """

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        try:
            with show_stage(tool.spec.name, display, opening, invocation) as visible:
                result = await tool.work(opening, visible)
                if isinstance(result.failure, ToolError) and result.failure.has_answered:
                    raise StageFailed(result)
                visible.stage.excused = result.failure is not None
                return result
        except StageFailed as failed:
            return failed.result

    # Clients choose the locale, so the cache needs a limit.
    announce = lru_cache(maxsize=16)(partial(announcement, display, tool.streams))
    return replace(tool, work=work, announce=announce)


@contextmanager
def show_stage(
    name: str, display: Display, opening: Opening, invocation: Invocation
) -> Iterator[Invocation]:
    if display.visibility == "never":
        yield structs.replace(invocation, emit=silent, stage=Stage("", silent))
        return
    held = DeferredEmit(invocation.emit) if display.visibility == "failures" else None
    emit = held or invocation.emit
    title = display.title(invocation.arguments, opening.caller.client.locale)
    try:
        with ExitStack() as closing:
            if invocation.early is None:
                begun = open_stage(emit, invocation.id, title, is_timed=True, tool=name)
            else:
                begun = invocation.early.adopted(title)  # The stage was opened earlier.
            stage = closing.enter_context(begun)
            stage.write(request(display, invocation))
            yield structs.replace(invocation, emit=emit, stage=stage)
            if display.stage is not None and display.stage.defer_close and invocation.defer:
                invocation.defer(stage, closing.pop_all())
    except BaseException:
        if held is not None:
            held.reveal()
        raise


def request(display: Display, invocation: Invocation) -> str:
    """Return the text that shows the arguments in the stage, without the part that is already
    shown.
    """
    early = invocation.early
    if early is None or not early.shown:
        return display.request(invocation.arguments)
    name, end = early.announcement.argument, f"\n{FENCE}\n"
    value = shorten_text(value_text(invocation.arguments.get(name)), MOST_CHARACTERS)
    if FENCE in value or not value.startswith(early.shown):
        return f"{end}\n\r{display.request(invocation.arguments)}"
    rest, suffix = value[len(early.shown) :], display.shown_as(name).suffix or ""
    others = display.entries(invocation.arguments, without=name)
    return f"{rest}{end}{suffix}\n\r{others}"


def announcement(display: Display, argument: str, locale: str) -> Announcement | None:
    """Return what a tool's stage shows when it opens early, or None if it must not open early."""
    title = display.beginning(locale)
    if display.visibility != "always" or not title:
        return None
    lead = display.lead(argument) if argument else ""
    return Announcement(title, argument if lead else "", lead)


def show_failure(stage: Stage, markdown: str) -> None:
    """Write an error to the stage, and show the stage if it is hidden until a failure."""
    if isinstance(stage.emit, DeferredEmit):
        stage.emit.reveal()
    stage.write(markdown)
