"""Passes the events of a run to its consumer in batches."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from apps.agent.events import Emit, Event
from apps.errors import QuickAppError, gettext_noop

MOST_WAITING_CHARACTERS = 16 * 1024 * 1024
"""The maximum size of a run's queued events, in characters. It exceeds the size of the longest
answers and of most tool results.
"""
EVENT_CHARACTERS = 100
"""Each event counts as this many characters, in addition to its text."""
UNCOUNTED_EVENTS = 256


class ReaderTooSlow(QuickAppError):
    code = "reader_too_slow"
    text = gettext_noop("The answer was stopped because no client was reading it. Ask again.")


class EventOutbox:
    """Queues events until the consumer reads them. If too many are queued, `overrun` is called."""

    __slots__ = ("count_at", "events", "loop", "overrun", "waiting")

    def __init__(self, overrun: Callable[[], object]) -> None:
        self.overrun = overrun
        self.loop = asyncio.get_running_loop()
        self.count_at = UNCOUNTED_EVENTS
        self.events: list[Event] = []
        self.waiting: asyncio.Future[None] | None = None

    def emit(self, event: Event) -> None:
        self.events.append(event)
        if len(self.events) > self.count_at:
            self.count()
        if self.waiting is not None:
            self.wake()

    def count(self) -> None:
        self.count_at = 2 * len(self.events)  # the cost of counting stays linear
        if sum(map(size, self.events)) > MOST_WAITING_CHARACTERS:
            self.events.clear()
            self.overrun()

    def wake(self, _: object = None) -> None:
        waiting, self.waiting = self.waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def take(self) -> list[Event]:
        taken, self.events = self.events, []
        self.count_at = UNCOUNTED_EVENTS
        return taken

    def next_event(self) -> asyncio.Future[None]:
        """Return a future that completes at the next event or at the end of the run."""
        # A future is faster per token and smaller per answer than an asyncio.Event.
        self.waiting = self.loop.create_future()
        return self.waiting


def size(event: Event) -> int:
    return len(getattr(event, "text", "")) + EVENT_CHARACTERS


async def stream(run: Callable[[Emit], Awaitable[object]]) -> AsyncGenerator[list[Event], None]:
    """Yield the events of `run` in batches. If `run` fails, raise its error after the last batch.

    A batch contains all events since the previous one, so that one network read leads to one write.
    Closing the iterator cancels the run and waits for its cleanup. If the consumer is too slow, the
    run is canceled and `ReaderTooSlow` is raised.
    """
    is_overrun = False

    def give_up() -> None:
        nonlocal is_overrun
        is_overrun = True
        task.cancel()

    outbox = EventOutbox(give_up)
    task = asyncio.ensure_future(run(outbox.emit))
    task.add_done_callback(outbox.wake)
    try:
        while True:
            if outbox.events:
                yield outbox.take()
            elif task.done():
                break
            else:
                await outbox.next_event()
        if is_overrun:
            raise ReaderTooSlow
        await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
