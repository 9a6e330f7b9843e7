"""Collects the events and steps of a run in this process until they are stored."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.utils import timezone

from apps.agent.ledger import Step
from apps.errors import LeaseLost
from apps.live.events import TEXTS, StreamEvent, is_kept, storable_value
from apps.live.journal.commits import Ending, Portion
from apps.live.journal.journal import entry_of
from apps.live.journal.log import RunLog
from apps.live.models import RunStep
from apps.live.subagents import SubagentEvent

TEXT_SECONDS = 1.2
"""The interval in seconds at which a run's text is stored. The text is stored earlier if other data
is written.
"""
BEATS_IN_LEASE = 3
"""A run that writes nothing renews its lease this many times per lease duration. Each write renews
it too.
"""


class RunRecord:
    """Collects the output of a run in this process.

    `stop` is called if a user asks another process to stop the run. `failure` is set to `LeaseLost`
    or `NotStored` if nothing more can be written.
    """

    def __init__(self, log: RunLog, stop: Callable[[], None]) -> None:
        self.log = log
        self.stop = stop
        self.hurry: Callable[[], None] = lambda: None
        self.failure: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.ending: Ending | None = None
        self.portion: Portion | None = None
        self.steps: dict[str, Step] = {}
        self.waiting: list[asyncio.Future[None]] = []
        self.served: list[asyncio.Future[None]] = []
        """The callers that are waiting for the current write."""
        self.has_news = False
        self.has_subagents = False
        self.stop_subagent: Callable[[str], object] = lambda key: None
        """Called with the key of a sub-agent that a user wants to stop."""
        self.text_since: float | None = None
        self.beat_at = time.monotonic()

    @property
    def is_over(self) -> bool:
        return self.failure.done()

    def say(self, event: StreamEvent) -> None:
        if self.ending is not None or not is_kept(event):
            return  # Work that did not stop in time may still send events. The ending follows.
        self.log.append(event)
        if not isinstance(event, TEXTS):
            self.has_news = True
        elif self.text_since is None:
            self.text_since = time.monotonic()

    def note(self, step: Step) -> None:
        self.steps[step.key] = step

    async def flush(self) -> None:
        """Wait until all events and steps so far are stored.

        Raises `LeaseLost` if another process has taken over the run, and `NotStored` if the data
        cannot be stored.
        """
        if self.is_over:
            self.failure.result()
            raise LeaseLost  # The run has ended.
        served = asyncio.get_running_loop().create_future()
        self.waiting.append(served)
        self.hurry()
        await served

    async def end(self, ending: Ending) -> None:
        """Store the remaining data and the ending, then show the ending to viewers. Raises
        `LeaseLost` or `NotStored`.
        """
        # Stored first, because a viewer who sees the end can ask the next question immediately.
        self.ending = ending
        await self.flush()

    def is_due(self, now: float) -> bool:
        if self.is_over:
            return False
        if self.portion is not None or self.waiting or self.steps or self.has_news:
            return True
        if self.text_since is not None and now - self.text_since >= TEXT_SECONDS:
            return True
        return self.is_older(now, BEATS_IN_LEASE)

    def is_older(self, now: float, beats: int) -> bool:
        return now - self.beat_at > settings.RUN_LEASE_SECONDS / beats

    def next_portion(self, now: float) -> Portion:
        """Return the data to write next: the data of a failed attempt, or else all new data. `now`
        is a time of the monotonic clock.
        """
        if self.portion is not None:
            self.portion.is_repeated = True
            return self.portion
        log = self.log
        ending = self.ending
        said = [event for _, _, event in log.after(log.written)]
        said += ending.events if ending is not None else ()
        self.portion = Portion(
            log.run,
            entry_of(log.stream, log.run, log.written + 1, said) if said else None,
            [row_of(log.run, step) for step in self.steps.values()],
            [event for event in said if isinstance(event, SubagentEvent)],
            ending,
            beats=self.is_older(now, 2 * BEATS_IN_LEASE),
        )
        self.has_subagents |= bool(self.portion.subagents)
        self.steps, self.has_news, self.text_since = {}, False, None
        self.served, self.waiting = self.waiting, []
        return self.portion

    def settle(self) -> None:
        """Mark the data of the last attempt as stored."""
        portion, self.portion = self.portion, None
        if portion is None:
            return
        if portion.beats:
            self.beat_at = time.monotonic()
        if portion.ending is not None:
            self.failure.set_result(None)
            for event in portion.ending.events:
                self.log.append(event)
        if portion.entry is not None:
            self.log.mark_written(portion.entry.last)
        for served in self.served:
            if not served.done():
                served.set_result(None)

    def fail(self, error: Exception) -> None:
        if self.is_over:
            return
        self.failure.set_exception(error)
        self.failure.exception()  # This marks the exception as retrieved. Waiters still receive it.
        for served in (*self.served, *self.waiting):
            if not served.done():
                served.set_exception(error)


def row_of(run: Any, step: Step) -> RunStep:
    step = replace(step, result=storable_value(step.result))
    return RunStep(
        run_id=run,
        key=step.key,
        kind=step.kind,
        policy=step.policy,
        status=step.status,
        result=step.result,
        done_at=None if step.status == "begun" else timezone.now(),
    )
