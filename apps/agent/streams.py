"""The bridge between a run that emits and a door that iterates."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from apps.agent.events import Emit, Event
from apps.errors import ReaderTooSlow

MOST_WAITING_CHARACTERS = 16 * 1024 * 1024
"""The most that may wait: more than the longest answer of a model, and than most tools bring."""
EVENT_CHARACTERS = 100
"""The size of an event beside its text."""
UNCOUNTED_EVENTS = 256


class Outbox:
    """Events that were emitted and not taken yet; `overrun` is called when there are too many."""

    __slots__ = ("count_at", "events", "overrun", "waiting")

    def __init__(self, overrun: Callable[[], object]) -> None:
        self.overrun = overrun
        self.count_at = UNCOUNTED_EVENTS
        self.events: list[Event] = []
        self.waiting: asyncio.Future[None] | None = None

    def emit(self, event: Event) -> None:
        self.events.append(event)
        if len(self.events) > self.count_at:
            self.count()
        self.wake()

    def count(self) -> None:
        self.count_at = 2 * len(self.events)  # the cost of counting stays linear
        if sum(map(size, self.events)) > MOST_WAITING_CHARACTERS:
            self.events.clear()
            self.overrun()

    def wake(self, _: object = None) -> None:
        if self.waiting is not None and not self.waiting.done():
            self.waiting.set_result(None)

    def take(self) -> list[Event]:
        taken, self.events = self.events, []
        self.count_at = UNCOUNTED_EVENTS
        return taken

    async def wait(self) -> None:
        """Until the next `wake`."""
        # Not an asyncio.Event: a future is less work for each token and less memory for each answer.
        self.waiting = asyncio.get_running_loop().create_future()
        await self.waiting


def size(event: Event) -> int:
    return len(getattr(event, "text", "")) + EVENT_CHARACTERS


async def stream(run: Callable[[Emit], Awaitable[object]]) -> AsyncGenerator[list[Event], None]:
    """Yield what `run` emits, as batches, then raise what it raised.

    A batch is everything emitted since the last one: the events of one network read leave in one
    write. The run has a task of its own, so connections are closed by the task that opened them.
    Closing the iterator cancels the run and waits for its clean-up. A consumer that stops reading
    is dropped, because its backlog would grow without bound. Raises `ReaderTooSlow` then.
    """
    is_overrun = False

    def give_up() -> None:
        nonlocal is_overrun
        is_overrun = True
        task.cancel()

    outbox = Outbox(give_up)
    task = asyncio.ensure_future(run(outbox.emit))
    task.add_done_callback(outbox.wake)
    try:
        while True:
            if outbox.events:
                yield outbox.take()
            elif task.done():
                break
            else:
                await outbox.wait()
        if is_overrun:
            raise ReaderTooSlow
        await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
