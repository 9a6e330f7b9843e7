"""Applies budgets in one process: reserves estimated costs before calls, and charges actual costs
afterwards.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from django.conf import settings
from django.db import DatabaseError, IntegrityError, InterfaceError, OperationalError
from django.utils import timezone

from apps.agent.events import ModelUsage, NoticeAdded
from apps.agent.meter import ModelCallReport, Reservation
from apps.agent.model import ModelRequest
from apps.insights.budgets import reservations
from apps.insights.budgets.models import Budget
from apps.insights.budgets.reservations import BudgetHold, ReservationRequest, Settlement
from apps.insights.budgets.rules import (
    BudgetClaim,
    BudgetRules,
    Outputs,
    holders_of,
    input_tokens,
    is_billed,
    read_rules,
    usage_amount,
)
from apps.insights.budgets.sentences import sentence
from apps.insights.meter import CallEntry, RunMeter

logger = logging.getLogger(__name__)

RULES_SECONDS = 1.0
"""The lifetime of cached budgets in seconds. Other processes apply a changed budget after this
time.
"""
RENEWALS_IN_LEASE = 3
PAUSE_SECONDS = 5.0
"""The delay in seconds between attempts to charge costs while the database is down."""
CLOSING_SECONDS = 1.0

Execute = Callable[[Callable[[], Any]], Awaitable[Any]]
"""A function that calls another function on a thread with a database connection."""


class FinishedCall(NamedTuple):
    """A call that has ended, with its reservations. `report` is None if the call was not made."""

    call: UUID
    holds: Sequence[BudgetHold]
    report: ModelCallReport | None = None
    ended_at: float = 0.0


class ProcessBudgets:
    """Admits this process's calls, and charges their costs to budgets."""

    def __init__(self, execute: Execute) -> None:
        self.execute = execute
        self.rules: BudgetRules | None = None
        self.requested_at = 0.0
        self.change = 0
        """The number of the newest budget change that `rules` includes."""
        self.reading: asyncio.Future[BudgetRules] | None = None
        self.read_change = 0
        """The number of the newest budget change when `reading` started."""
        self.outputs = Outputs()
        self.held: dict[UUID, Sequence[BudgetHold]] = {}
        self.unsettled: list[FinishedCall] = []
        # asyncio holds only weak references to tasks, so the task is stored here.
        self.settling: asyncio.Task[None] | None = None
        self.renewing: asyncio.Task[None] | None = None

    def forget(self) -> None:
        """Discard the cached budgets, so that they are read again."""
        self.rules = self.reading = None

    async def current_rules(self) -> BudgetRules:
        """Return all budgets, cached for `RULES_SECONDS`, or longer if the database is down."""
        now, change, rules = time.monotonic(), Budget.newest_change, self.rules
        if rules is not None and self.change == change:
            if now - self.requested_at < RULES_SECONDS:
                return rules
            self.requested_at = now  # Other calls use the old rules in the meantime.
        try:
            return await self.read(change)
        except (OperationalError, InterfaceError):
            if rules is None:
                raise
            return rules

    async def read(self, change: int) -> BudgetRules:
        """Read all budgets. Concurrent calls with the same `change` share one query."""
        if self.reading is None or self.reading.done() or self.read_change != change:
            self.requested_at, self.read_change = time.monotonic(), change
            self.reading = asyncio.ensure_future(self.execute(read_rules))
        reading = self.reading
        rules = await asyncio.shield(reading)
        if reading is self.reading:  # Otherwise, a newer read has begun.
            self.rules, self.change = rules, change
        return rules

    # --- Before a call ------------------------------------------------------------------------

    async def admit(
        self, meter: RunMeter, deployment: str, request: ModelRequest
    ) -> Reservation | None:
        """Reserve a call's estimated cost. Return None if no budget applies to the call. Raises
        `BudgetSpent` if a budget is used up.
        """
        try:
            return await self.reserve_for(meter, deployment, request)
        except IntegrityError:  # A budget was deleted after the rules were read.
            self.forget()
            return await self.reserve_for(meter, deployment, request)

    async def reserve_for(
        self, meter: RunMeter, deployment: str, request: ModelRequest
    ) -> Reservation | None:
        """Reserve a call's estimated cost. Raises `IntegrityError` if a budget was deleted."""
        rules = await self.current_rules()
        if not rules.by_subject:
            return None
        claims = rules.claims(holders_of(meter))
        if not claims:
            return None
        if self.unsettled:  # Otherwise this call would be admitted before the last one is counted.
            await asyncio.shield(self.flush())
        usage = ModelUsage(deployment, input_tokens(request), self.outputs.mean(deployment))
        call = uuid4()
        reserving = asyncio.ensure_future(
            self.execute(partial(self.reserve, call, claims, usage, meter))
        )
        try:
            holds, told = await asyncio.shield(reserving)
        except asyncio.CancelledError:
            reserving.add_done_callback(partial(self.release_canceled, call))
            raise
        self.held[call] = holds
        self.renewing = begin_work(self.renewing, self.keep_renewing)
        now = timezone.now()
        return Reservation(call, tuple(notice_of(one, now, meter.time_zone) for one in told))

    def reserve(
        self, call: UUID, claims: Sequence[BudgetClaim], usage: ModelUsage, meter: RunMeter
    ) -> tuple[list[BudgetHold], list[BudgetHold]]:
        now = time.time()
        amounts = {
            claim.rule.id: usage_amount(claim.rule, usage.model, (usage,), now) or 0
            for claim in claims
        }
        return reservations.reserve(
            ReservationRequest(
                call, claims, amounts, lease_end(), meter.conversation, meter.time_zone
            )
        )

    def release_canceled(self, call: UUID, reserving: asyncio.Future[Any]) -> None:
        """Release the reservations of a call that was canceled while `reserving` was running."""
        if not reserving.cancelled() and reserving.exception() is None:
            self.queue_settlement(FinishedCall(call, reserving.result()[0]))

    async def keep_renewing(self) -> None:
        """Renew the reservations of running calls until all calls have ended."""
        while self.held:
            await asyncio.sleep(settings.RUN_LEASE_SECONDS / RENEWALS_IN_LEASE)
            try:
                await self.execute(partial(reservations.renew, list(self.held), lease_end()))
            except (DatabaseError, InterfaceError) as error:
                logger.warning("Failed to renew budget reservations: %s", error)

    # --- After a call -------------------------------------------------------------------------

    def settle(self, entry: CallEntry) -> None:
        report = entry.report
        if not isinstance(report, ModelCallReport) or report.reservation is None:
            return
        call = report.reservation.call
        self.outputs.add(report.deployment, report.usage)
        self.queue_settlement(FinishedCall(call, self.held.pop(call, ()), report, entry.ended_at))
        if not self.held and self.renewing is not None:
            self.renewing.cancel()
            self.renewing = (
                None  # The task has not ended yet, and the next call needs its own reservation.
            )

    def queue_settlement(self, finished: FinishedCall) -> None:
        self.unsettled.append(finished)
        self.settling = begin_work(self.settling, self.keep_settling)

    async def keep_settling(self) -> None:
        while self.unsettled:
            try:
                await self.flush()
            except (OperationalError, InterfaceError) as error:
                logger.warning(
                    "Failed to count the costs of calls in budgets; trying again: %s", error
                )
                await asyncio.sleep(PAUSE_SECONDS)

    async def flush(self) -> None:
        """Charge the costs of all calls that have ended. If the database is down, leaves the calls
        in the queue and raises `OperationalError` or `InterfaceError`.
        """
        if not self.unsettled:
            # Another flush settles the calls. The next reservation waits for that flush on the same
            # thread.
            return
        calls, self.unsettled = self.unsettled, []
        try:
            await self.execute(partial(settle, calls))
        except (OperationalError, InterfaceError):
            self.unsettled = calls + self.unsettled
            raise
        except Exception:
            logger.exception("Failed to count %d calls in budgets", len(calls))

    async def close(self) -> None:
        """Charge the costs of calls that have ended. Gives up after `CLOSING_SECONDS`."""
        if self.renewing is not None:
            self.renewing.cancel()
        if self.settling is not None:
            await asyncio.wait((self.settling,), timeout=CLOSING_SECONDS)
            self.settling.cancel()


def settle(calls: Sequence[FinishedCall]) -> None:
    reservations.settle(
        Settlement(hold, call.call, count_call(hold, call)) for call in calls for hold in call.holds
    )


def count_call(hold: BudgetHold, call: FinishedCall) -> int | None:
    """Return a call's cost in the smallest parts of the budget's unit, or None if the call has no
    price.
    """
    report = call.report
    if report is None or report.is_paid_by_person:
        return 0
    if is_billed(report):
        return hold.amount
    return usage_amount(
        hold.claim.rule, report.deployment, report.usage, call.ended_at, error=report.error
    )


def lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=settings.RUN_LEASE_SECONDS)


def notice_of(hold: BudgetHold, now: datetime, time_zone: str) -> NoticeAdded:
    text = sentence(hold.claim.rule, hold.used, hold.limit, now, time_zone)
    return NoticeAdded(f"budget-{hold.window}", text)


def begin_work(
    task: asyncio.Task[None] | None, work: Callable[[], Coroutine[Any, Any, None]]
) -> asyncio.Task[None]:
    """Return the task if it is still running, or else start a new task."""
    return asyncio.create_task(work()) if task is None or task.done() else task
