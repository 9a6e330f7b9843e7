"""Runs the work of a run in a task of the process, independent of viewers, and ends it properly.

The work may be cancelled. The task that writes the rest and the ending, and lets go of the run, is
another one and is not.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.agent.ledger import WAITING, Consent, Interaction, Step
from apps.errors import LeaseLost, NotStored
from apps.live.commits import Ending
from apps.live.events import StatusChanged
from apps.live.hub import Hub
from apps.live.log import RunLog
from apps.live.models import Run
from apps.live.run_record import RunRecord
from apps.live.step_ledger import StepLedger

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
    """`conclude` makes the ending of a run that is over.

    `steps` and `interactions` are what the run has done and asked before, in another process.
    """

    def __init__(
        self,
        hub: Hub,
        log: RunLog,
        conclude: Conclude,
        steps: Iterable[Step] = (),
        interactions: Iterable[Interaction] = (),
        consents: Mapping[str, Consent] | None = None,
    ) -> None:
        self.hub = hub
        self.log = log
        self.conclude = conclude
        self.record = RunRecord(log, self.stop)
        self.ledger = StepLedger(self.record, steps, interactions, consents)
        self.record.stop_helper = self.stop_helper
        self.stop_seconds = STOP_SECONDS
        self.is_interrupted = False
        self.stopping = asyncio.Event()
        self.work: asyncio.Future[object] | None = None

    def start(self, work: Coroutine[Any, Any, object]) -> asyncio.Task[None]:
        """Begin; the result of the work is its finish reason.

        The task, which belongs to the hub, is over when the ending is stored.
        """
        self.hub.add(self.log)
        self.hub.supervisors[self.log.stream] = self
        self.hub.committer.add(self.record)
        self.work = asyncio.ensure_future(work)
        return self.hub.hold(self.keep(self.work))

    def stop(self) -> None:
        """Cancel the work, and with it whatever it waits for."""
        # Only once: a second cancellation would cut its clean-up short.
        if self.work is not None and not self.stopping.is_set():
            self.stopping.set()
            self.work.cancel()

    def stop_helper(self, key: str) -> bool:
        """Stop the helper that the step of that key is, and nothing else; False if there is none."""
        return self.ledger.stop_helper(key)

    def begin_no_step(self) -> None:
        """Let the work end where it would ask a model again, so that another process goes on."""
        self.is_interrupted = self.ledger.is_closing = True

    def hand_over(self, seconds: float) -> None:
        """Stop because the process ends, and give the clean-up at most `seconds`."""
        self.begin_no_step()
        if not self.stopping.is_set():
            self.stop_seconds = min(self.stop_seconds, seconds)
            self.stop()

    async def keep(self, work: asyncio.Future[object]) -> None:
        failure = self.record.failure
        stopping = asyncio.create_task(self.stopping.wait())
        try:
            await asyncio.wait((work, failure, stopping), return_when=asyncio.FIRST_COMPLETED)
            await self.end(await self.outcome(work))
        except Exception:
            logger.exception("Run %s could not be ended", self.log.run)
            self.give_up()
        finally:
            work.cancel()
            stopping.cancel()
            self.hub.committer.remove(self.record)
            self.log.is_over = True
            if self.hub.supervisors.get(self.log.stream) is self:
                del self.hub.supervisors[self.log.stream]
            if self.hub.has_queue:
                self.hub.awaited.set()

    async def outcome(self, work: asyncio.Future[object]) -> RunOutcome:
        was_wished = self.stopping.is_set() and not self.is_interrupted
        if not work.done():
            self.stop()
        # A task that swallows its cancellation is abandoned after that time.
        await asyncio.wait((work,), timeout=self.stop_seconds)
        if not work.done() or work.cancelled():
            if self.is_interrupted and not was_wished:
                return RunOutcome(Run.Status.QUEUED)
            return RunOutcome(Run.Status.STOPPED)
        if error := work.exception():
            return RunOutcome(Run.Status.FAILED, error)
        # A run that waits again, for what it asked before, asks nothing new.
        is_waiting = bool(self.ledger.asked) or work.result() == WAITING
        return RunOutcome(Run.Status.WAITING if is_waiting else Run.Status.DONE)

    async def end(self, outcome: RunOutcome) -> None:
        ending = self.ending(outcome)
        try:
            await self.record.end(ending)
        except LeaseLost:
            logger.warning("Run %s is not ours any more; it was stopped", self.log.run)
            await self.leave()
        except NotStored as error:
            logger.error("Run %s could not be stored: %s", self.log.run, error.__cause__)
            self.show(self.conclude(RunOutcome(Run.Status.FAILED, error)))
        else:
            self.hub.remove(self.log)

    async def leave(self) -> None:
        """Leave the run to whoever holds it. Viewers of a deleted one are shown that it is over."""
        row = Run.objects.filter(pk=self.log.run)
        if await self.hub.execute(row.exists):
            self.log.is_over = True
            self.hub.remove(self.log)
        else:
            self.show(self.conclude(RunOutcome(Run.Status.STOPPED)))

    def ending(self, outcome: RunOutcome) -> Ending:
        if outcome.status not in Run.OPEN:
            return self.conclude(outcome)
        # The run goes on later: nothing is concluded.
        told = (StatusChanged(outcome.status),)
        return Ending(outcome.status, told, self.ledger.store_asked)

    def show(self, ending: Ending) -> None:
        """Show viewers the ending, although it could not be written."""
        for event in ending.events:
            self.log.append(event)
        self.give_up()

    def give_up(self) -> None:
        self.hub.remove_later(self.log)
