"""The bridge between a run that emits and a door that iterates."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from apps.agent.events import Emit, Event


class Outbox:
    """What was emitted and is not taken yet.

    A future for each wait, not an asyncio.Event: that is less work for each token on its way out,
    and less memory for each answer that is waited for.
    """

    __slots__ = ("events", "waiting")

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.waiting: asyncio.Future[None] | None = None

    def emit(self, event: Event) -> None:
        self.events.append(event)
        self.wake()

    def wake(self, _: object = None) -> None:
        if self.waiting is not None and not self.waiting.done():
            self.waiting.set_result(None)

    def take(self) -> list[Event]:
        taken, self.events = self.events, []
        return taken

    async def wait(self) -> None:
        """Until the next `wake`."""
        self.waiting = asyncio.get_running_loop().create_future()
        await self.waiting


async def stream(run: Callable[[Emit], Awaitable[object]]) -> AsyncGenerator[list[Event], None]:
    """Yield what `run` emits, as batches, then raise what it raised.

    A batch is everything emitted since the last one: what one network read brought leaves in one
    write. The run has a task of its own, so connections are closed by the task that opened them;
    closing the iterator cancels the run, waits for its clean-up and yields nothing more.
    """
    outbox = Outbox()
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
        await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
