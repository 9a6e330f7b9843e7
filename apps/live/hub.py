"""The runs of this process: their supervisors, their newest events, and their viewers.

Nothing here waits: a run appends to its log, and the viewers of its stream are woken. Viewers have
no queue of their own; each reads from the log, or from the journal when it lags behind the log.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar
from uuid import UUID

T = TypeVar("T")

NumberedEvent = tuple[int, UUID, Mapping[str, Any]]
"""The number in the stream, the run, the event."""

KEPT_EVENTS = 2_000
"""Written events that stay in memory for viewers that are a little behind."""
LOST_LOG_SECONDS = 60.0
"""The log of a run that could not be stored stays for the viewers who are here."""


class RunLog:
    """The events of one run; `first` is the number of the oldest one in memory.

    `written` are the events that the journal has already.
    """

    def __init__(
        self, stream: UUID, run: UUID, first: int, written: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        self.stream = stream
        self.run = run
        self.first = first
        self.events: list[Mapping[str, Any]] = [*written]
        self.written = self.last
        self.is_over = False
        self.kept = KEPT_EVENTS
        self.wake: Callable[[], None] = lambda: None
        self.grown = asyncio.Event()
        self.urgent = asyncio.Event()

    @property
    def last(self) -> int:
        return self.first + len(self.events) - 1

    def append(self, event: Mapping[str, Any]) -> None:
        self.events.append(event)
        self.grown.set()
        self.wake()

    def after(self, number: int, limit: int) -> list[NumberedEvent]:
        """The events that follow `number`; it must be at least `first - 1`."""
        start = number + 1 - self.first
        events = self.events[start : start + limit]
        return [(number + 1 + i, self.run, event) for i, event in enumerate(events)]

    def mark_written(self, number: int) -> None:
        """Everything up to `number` is in the journal; forget all but the newest of it."""
        self.written = number
        surplus = self.written - self.first + 1 - self.kept
        if surplus > 0:
            del self.events[:surplus]
            self.first += surplus


class Stoppable(Protocol):
    def stop(self) -> None: ...

    def interrupt(self, seconds: float) -> None: ...


@dataclass(slots=True)
class Hub:
    """One for each process; tests make more of them to be several processes."""

    logs: dict[UUID, RunLog] = field(default_factory=dict)
    """By stream, as supervisors and viewers are."""
    supervisors: dict[UUID, Stoppable] = field(default_factory=dict)
    # asyncio itself holds tasks by weak references only.
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    viewers: dict[UUID, set[asyncio.Event]] = field(default_factory=dict)
    is_closing: bool = False
    """The process is about to end: it takes no more questions."""
    is_closed: bool = False
    """No more events will follow; viewers leave when they have got all there are."""
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a viewer has left."""

    def hold(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run a coroutine to its end, also when nobody waits for it any more."""
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.drop_task)
        return task

    def drop_task(self, task: asyncio.Task[Any]) -> None:
        self.tasks.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as seen; whoever awaits the task still gets it

    def add(self, log: RunLog) -> None:
        log.wake = lambda: self.wake(log.stream)
        self.logs[log.stream] = log

    def remove(self, log: RunLog) -> None:
        """Forget a log whose events are all in the journal."""
        if self.logs.get(log.stream) is log:
            del self.logs[log.stream]
        self.wake(log.stream)

    def remove_later(self, log: RunLog) -> None:
        asyncio.get_running_loop().call_later(LOST_LOG_SECONDS, self.remove, log)

    def wake_all(self) -> None:
        for stream in self.viewers:
            self.wake(stream)

    async def wait_for_viewers(self, seconds: float) -> None:
        """Return when one of them has left, or when the time is over."""
        self.left.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.left.wait()

    def wake(self, stream: UUID) -> None:
        for news in self.viewers.get(stream, ()):
            news.set()

    @contextmanager
    def watch(self, stream: UUID) -> Iterator[asyncio.Event]:
        """The event is set whenever the stream may have something new."""
        news = asyncio.Event()
        self.viewers.setdefault(stream, set()).add(news)
        try:
            yield news
        finally:
            self.viewers[stream].discard(news)
            if not self.viewers[stream]:
                del self.viewers[stream]
            self.left.set()


HUB = Hub()
"""The hub of this process."""
