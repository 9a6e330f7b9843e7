"""Runs the work of a run in a task of the process, independent of viewers, and ends it properly.

The work may be cancelled. The task that writes the last batch and the ending, and releases the
lease, is another one and is not.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from apps.errors import LeaseLost, NotStored, RunAbandoned
from apps.live.hub import Hub, RunLog
from apps.live.journal import Ending
from apps.live.journal_writer import JournalWriter
from apps.live.models import Run

logger = logging.getLogger(__name__)

STOP_SECONDS = 10.0
"""A stopped run's time to clean up."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The result of the work; `error` is None unless the status is failed."""

    status: Run.Status
    error: BaseException | None = None


Conclude = Callable[[RunOutcome], Ending]


class RunSupervisor:
    def __init__(self, hub: Hub, log: RunLog, conclude: Conclude) -> None:
        self.hub = hub
        self.log = log
        self.conclude = conclude
        self.writer = JournalWriter(log, self.stop)
        self.stop_seconds = STOP_SECONDS
        self.is_interrupted = False
        self.stopping = asyncio.Event()
        self.work: asyncio.Future[object] | None = None

    def start(self, work: Coroutine[Any, Any, object]) -> None:
        """Begin; the task belongs to the hub."""
        self.hub.add(self.log)
        self.hub.supervisors[self.log.stream] = self
        self.work = asyncio.ensure_future(work)
        self.hub.hold(self.keep(self.work))

    def stop(self) -> None:
        """Cancel the work, and with it whatever it waits for."""
        # Only once: a second cancellation would cut its clean-up short.
        if self.work is not None and not self.stopping.is_set():
            self.stopping.set()
            self.work.cancel()

    def interrupt(self, seconds: float) -> None:
        """Stop because the process ends, and give the clean-up at most `seconds`."""
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
            if self.hub.supervisors.get(self.log.stream) is self:
                del self.hub.supervisors[self.log.stream]

    async def outcome(
        self, work: asyncio.Future[object], writing: asyncio.Future[None]
    ) -> RunOutcome:
        if not work.done():
            self.stop()
        # A task that swallows its cancellation is abandoned after that time.
        await asyncio.wait((work,), timeout=self.stop_seconds)
        if writing.done() and isinstance(error := writing.exception(), NotStored):
            return RunOutcome(Run.Status.FAILED, error)
        if not work.done() or work.cancelled():
            if self.is_interrupted:
                return RunOutcome(Run.Status.FAILED, RunAbandoned())
            return RunOutcome(Run.Status.STOPPED)
        error = work.exception()
        return RunOutcome(Run.Status.FAILED, error) if error else RunOutcome(Run.Status.DONE)

    async def end(self, outcome: RunOutcome, writing: asyncio.Future[None]) -> None:
        ending = self.conclude(outcome)
        try:
            await writing
            await self.writer.finish(ending)
        except LeaseLost:
            logger.warning("Run %s is not ours any more; it was stopped", self.log.run)
            self.show(ending)
        except NotStored as error:
            logger.error("Run %s could not be stored: %s", self.log.run, error.__cause__)
            self.show(self.conclude(RunOutcome(Run.Status.FAILED, error)))
        else:
            self.hub.remove(self.log)

    def show(self, ending: Ending) -> None:
        """Show viewers the ending, although it could not be written."""
        for event in ending.events:
            self.log.append(event)
        self.give_up()

    def give_up(self) -> None:
        self.hub.remove_later(self.log)
