"""Keep a run going in a task of the process, whoever watches it, and end it properly.

The work itself may be cancelled; what has to happen afterwards (the last batch, the ending, the
end of the lease) is done by a task that is not.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from apps.errors import LeaseLost, NotStored, RunAbandoned
from apps.live.hub import Hub, Log
from apps.live.journal import Ending
from apps.live.journal_writer import Writer
from apps.live.models import Run

logger = logging.getLogger(__name__)

STOP_SECONDS = 10.0
"""What a stopped run may take to clean up."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the work ended; `error` is None unless the status is failed."""

    status: Run.Status
    error: BaseException | None = None


Conclude = Callable[[Outcome], Ending]


class Keeper:
    """Works on one run until it is over."""

    def __init__(self, hub: Hub, log: Log, conclude: Conclude) -> None:
        self.hub = hub
        self.log = log
        self.conclude = conclude
        self.writer = Writer(log, self.stop)
        self.stop_seconds = STOP_SECONDS
        self.is_interrupted = False
        self.stopping = asyncio.Event()
        self.work: asyncio.Future[object] | None = None

    def start(self, work: Coroutine[Any, Any, object]) -> None:
        """Begin; the task belongs to the hub."""
        self.hub.add(self.log)
        self.hub.working[self.log.stream] = self
        self.work = asyncio.ensure_future(work)
        self.hub.hold(self.keep(self.work))

    def stop(self) -> None:
        """Cancel the work, and with it whatever it waits for."""
        # once: a second time would cut its clean-up short
        if self.work is not None and not self.stopping.is_set():
            self.stopping.set()
            self.work.cancel()

    def interrupt(self, seconds: float) -> None:
        """Stop because the process ends, which nobody wished; cleaning up may take so long."""
        if not self.stopping.is_set():
            self.is_interrupted = True
            self.stop_seconds = min(self.stop_seconds, seconds)
            self.stop()

    async def keep(self, work: asyncio.Future[object]) -> None:
        writing = asyncio.create_task(self.writer.keep_writing())
        stopping = asyncio.create_task(self.stopping.wait())
        try:
            await asyncio.wait((work, writing, stopping), return_when=asyncio.FIRST_COMPLETED)
            outcome = await self.outcome(work, writing)
            self.writer.end()
            await asyncio.wait((writing,))
            await self.end(outcome, writing)
        except Exception:
            logger.exception("Run %s could not be ended", self.log.run)
            self.give_up()
        finally:
            for task in (work, writing, stopping):
                task.cancel()
            self.log.is_over = True
            if self.hub.working.get(self.log.stream) is self:
                del self.hub.working[self.log.stream]

    async def outcome(self, work: asyncio.Future[object], writing: asyncio.Future[None]) -> Outcome:
        """How the work ended. It is stopped when nothing of it can be written any more."""
        if not work.done():
            self.stop()
        # a task that swallows its cancellation is left to itself
        await asyncio.wait((work,), timeout=self.stop_seconds)
        if writing.done() and isinstance(error := writing.exception(), NotStored):
            return Outcome(Run.Status.FAILED, error)
        if not work.done() or work.cancelled():
            return self.ended()
        error = work.exception()
        return Outcome(Run.Status.FAILED, error) if error else Outcome(Run.Status.DONE)

    def ended(self) -> Outcome:
        """How work ended that did not end by itself."""
        if self.is_interrupted:
            return Outcome(Run.Status.FAILED, RunAbandoned())
        return Outcome(Run.Status.STOPPED)

    async def end(self, outcome: Outcome, writing: asyncio.Future[None]) -> None:
        ending = self.conclude(outcome)
        try:
            await writing
            await self.writer.finish(ending)
        except LeaseLost:
            logger.warning("Run %s is not ours any more; it was stopped", self.log.run)
            self.show(ending)
        except NotStored as error:
            logger.error("Run %s could not be stored: %s", self.log.run, error.__cause__)
            self.show(self.conclude(Outcome(Run.Status.FAILED, error)))
        else:
            self.hub.remove(self.log)

    def show(self, ending: Ending) -> None:
        """Tell those who watch how it ended, although it could not be written."""
        for event in ending.events:
            self.log.append(event)
        self.give_up()

    def give_up(self) -> None:
        self.hub.remove_later(self.log)
