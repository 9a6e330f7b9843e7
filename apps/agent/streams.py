"""The bridge between a run that emits and a door that iterates."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from apps.agent.events import Emit, Event


async def stream(run: Callable[[Emit], Awaitable[object]]) -> AsyncGenerator[list[Event], None]:
    """Yield what `run` emits, as batches, then raise what it raised.

    A batch is everything emitted since the last one: what one network read brought leaves in one
    write. The run has a task of its own, so connections are closed by the task that opened them;
    closing the iterator cancels the run, waits for its clean-up and yields nothing more.
    """
    pending: list[Event] = []
    wake = asyncio.Event()

    def emit(event: Event) -> None:
        pending.append(event)
        wake.set()

    task = asyncio.ensure_future(run(emit))
    task.add_done_callback(lambda _: wake.set())
    try:
        while True:
            await wake.wait()
            wake.clear()
            if pending:
                batch, pending[:] = pending.copy(), ()
                yield batch
            elif task.done():
                break
            if task.done():
                wake.set()
        await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
