"""Executes a run in an asyncio task of this process, independently of viewers, and stores its
outcome.

The task that does the work can be canceled. A second task, which is never canceled, stores the
remaining data and the ending, and releases the run.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.agent.ledger import WAITING, Consent, InteractionRequest, Step
from apps.errors import LeaseLost, NotStored
from apps.live.events import StatusChanged
from apps.live.hub import Hub
from apps.live.journal.commits import Ending
from apps.live.journal.log import RunLog
from apps.live.journal.run_record import RunRecord
from apps.live.models import Run
from apps.live.step_ledger import StepLedger

logger = logging.getLogger(__name__)

STOP_SECONDS = 10.0
"""A stopped run has this many seconds to clean up."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The outcome of a run: its status, and its error if it has failed."""

    status: Run.Status
    error: BaseException | None = None


Conclude = Callable[[RunOutcome], Ending]


class RunSupervisor:
    """Supervises a run in this process.

    `conclude` returns the ending for an outcome. `steps` and `interactions` were stored by the
    processes that executed the run earlier.
    """

    def __init__(
        self,
        hub: Hub,
        log: RunLog,
        conclude: Conclude,
        steps: Iterable[Step] = (),
        interactions: Iterable[InteractionRequest] = (),
        consents: Mapping[str, Consent] | None = None,
    ) -> None:
        self.hub = hub
        self.log = log
        self.conclude = conclude
        self.record = RunRecord(log, self.stop)
        self.ledger = StepLedger(self.record, steps, interactions, consents)
        self.record.stop_subagent = self.stop_subagent
        self.stop_seconds = STOP_SECONDS
        self.is_interrupted = False
        self.stopping = asyncio.Event()
        self.work: asyncio.Future[object] | None = None

    def start(self, work: Coroutine[Any, Any, object]) -> asyncio.Task[None]:
        """Start the coroutine `work`, which executes the run and returns the finish reason. Return
        a task of the hub that completes when the ending is stored.
        """
        self.hub.streams.add(self.log)
        self.hub.supervisors[self.log.stream] = self
        self.hub.committer.add(self.record)
        self.work = asyncio.ensure_future(work)
        return self.hub.hold(self.supervise(self.work))

    def stop(self) -> None:
        """Cancel the run's work, including its running model and tool calls."""
        # A second cancellation would interrupt the cleanup.
        if self.work is not None and not self.stopping.is_set():
            self.stopping.set()
            self.work.cancel()

    def stop_subagent(self, key: str) -> bool:
        return self.ledger.stop_subagent(key)

    def stop_before_next_call(self) -> None:
        """End the run's work before its next model call, so that another process can resume the
        run.
        """
        self.is_interrupted = self.ledger.is_closing = True

    def hand_over(self, seconds: float) -> None:
        """Interrupt the run because the process is stopping. The run has up to `seconds` to clean
        up.
        """
        self.stop_before_next_call()
        if not self.stopping.is_set():
            self.stop_seconds = min(self.stop_seconds, seconds)
            self.stop()

    async def supervise(self, work: asyncio.Future[object]) -> None:
        failure = self.record.failure
        stopping = asyncio.create_task(self.stopping.wait())
        try:
            await asyncio.wait((work, failure, stopping), return_when=asyncio.FIRST_COMPLETED)
            await self.end(await self.outcome(work))
        except Exception:
            logger.exception("Failed to end run %s", self.log.run)
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
        # A task that ignores its cancellation is abandoned after this time.
        await asyncio.wait((work,), timeout=self.stop_seconds)
        if not work.done() or work.cancelled():
            if self.is_interrupted and not was_wished:
                return RunOutcome(Run.Status.QUEUED)
            return RunOutcome(Run.Status.STOPPED)
        if error := work.exception():
            return RunOutcome(Run.Status.FAILED, error)
        # A run that is still waiting for the answer to an earlier question asks no new one.
        is_waiting = bool(self.ledger.asked) or work.result() == WAITING
        return RunOutcome(Run.Status.WAITING if is_waiting else Run.Status.DONE)

    async def end(self, outcome: RunOutcome) -> None:
        ending = self.ending(outcome)
        try:
            await self.record.end(ending)
        except LeaseLost:
            logger.warning(
                "Stopped run %s in this process: another process has taken it over", self.log.run
            )
            await self.abandon()
        except NotStored as error:
            logger.error("Failed to store run %s: %s", self.log.run, error.__cause__)
            self.show(self.conclude(RunOutcome(Run.Status.FAILED, error)))
        else:
            self.hub.streams.remove(self.log)

    async def abandon(self) -> None:
        """Stop working on a run that another process holds or that was deleted. Viewers of a
        deleted run see that it has ended.
        """
        row = Run.objects.filter(pk=self.log.run)
        if await self.hub.execute(row.exists):
            self.log.is_over = True
            self.hub.streams.remove(self.log)
        else:
            self.show(self.conclude(RunOutcome(Run.Status.STOPPED)))

    def ending(self, outcome: RunOutcome) -> Ending:
        if outcome.status not in Run.OPEN:
            return self.conclude(outcome)
        # Another process will resume the run, so there is no outcome yet.
        events = (StatusChanged(outcome.status),)
        return Ending(outcome.status, events, self.ledger.store_asked)

    def show(self, ending: Ending) -> None:
        """Show the ending to viewers even though it could not be stored."""
        for event in ending.events:
            self.log.append(event)
        self.give_up()

    def give_up(self) -> None:
        self.hub.streams.remove_later(self.log)
