"""The budgets as one process applies them: it reads them, reserves before calls, settles after them."""

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

from apps.agent.events import ModelUsage, Noticed
from apps.agent.meter import ModelCallReport, Reservation
from apps.agent.model import ModelRequest
from apps.insights.budgets import reservations
from apps.insights.budgets.changes import newest_change
from apps.insights.budgets.costs import is_billed, parts_of
from apps.insights.budgets.estimates import Outputs, input_tokens
from apps.insights.budgets.reservations import Hold, Reserving, Settlement
from apps.insights.budgets.rules import Claim, Rules, holders_of, read_rules
from apps.insights.budgets.sentences import sentence
from apps.insights.meter import Entry, RunMeter

logger = logging.getLogger(__name__)

RULES_SECONDS = 1.0
"""Each process applies the changes of others so much later, and its own at once."""
RENEWALS_IN_LEASE = 3
PAUSE_SECONDS = 5.0
"""Before the next attempt to settle while the database is away."""
CLOSING_SECONDS = 1.0

Execute = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Calls a function on a thread with a connection to the database."""


class FinishedCall(NamedTuple):
    """A call that is over; without a report, one that was not made."""

    call: UUID
    holds: Sequence[Hold]
    report: ModelCallReport | None = None
    ended_at: float = 0.0


class ProcessBudgets:
    """`held` is what each call that goes on holds back, by its id."""

    def __init__(self, execute: Execute) -> None:
        self.execute = execute
        self.rules: Rules | None = None
        self.asked_at = 0.0
        self.change = 0
        self.outputs = Outputs()
        self.held: dict[UUID, Sequence[Hold]] = {}
        self.unsettled: list[FinishedCall] = []
        # asyncio itself holds tasks by weak references only.
        self.settling: asyncio.Task[None] | None = None
        self.renewing: asyncio.Task[None] | None = None

    def forget(self) -> None:
        """Ask the database again for everything."""
        self.rules = None

    async def current_rules(self) -> Rules:
        """The budgets, at most `RULES_SECONDS` old as long as the database answers."""
        now, change = time.monotonic(), newest_change()
        is_recent = self.change == change and now - self.asked_at < RULES_SECONDS
        if self.rules is not None and is_recent:
            return self.rules
        self.asked_at, self.change = now, change  # whoever asks meanwhile gets the old ones
        try:
            self.rules = await self.execute(read_rules)
        except (OperationalError, InterfaceError):
            if self.rules is None:
                raise
        return self.rules

    # --- Before a call ------------------------------------------------------------------------

    async def admit(
        self, meter: RunMeter, deployment: str, request: ModelRequest
    ) -> Reservation | None:
        """Reserve what the call will probably cost. Raises `BudgetSpent`."""
        try:
            return await self.reserve_for(meter, deployment, request)
        except IntegrityError:  # a budget was deleted after the rules were read
            self.forget()
            return await self.reserve_for(meter, deployment, request)

    async def reserve_for(
        self, meter: RunMeter, deployment: str, request: ModelRequest
    ) -> Reservation | None:
        """Raises `BudgetSpent`, `IntegrityError`."""
        rules = await self.current_rules()
        if not rules.by_subject:
            return None
        claims = rules.claims(holders_of(meter))
        if not claims:
            return None
        if self.unsettled:  # else this call would be admitted before the last one is counted
            await asyncio.shield(self.flush())
        usage = ModelUsage(deployment, input_tokens(request), self.outputs.mean(deployment))
        call = uuid4()
        reserving = asyncio.ensure_future(
            self.execute(partial(self.reserve, call, claims, usage, meter))
        )
        try:
            holds, told = await asyncio.shield(reserving)
        except asyncio.CancelledError:
            reserving.add_done_callback(partial(self.give_up, call))
            raise
        self.held[call] = holds
        self.renewing = begun(self.renewing, self.keep_renewing)
        now = timezone.now()
        return Reservation(call, tuple(notice_of(one, now, meter.time_zone) for one in told))

    def reserve(
        self, call: UUID, claims: Sequence[Claim], usage: ModelUsage, meter: RunMeter
    ) -> tuple[list[Hold], list[Hold]]:
        now = time.time()
        amounts = {
            claim.rule.id: parts_of(claim.rule, usage.model, (usage,), now) or 0 for claim in claims
        }
        return reservations.reserve(
            Reserving(call, claims, amounts, lease_end(), meter.conversation, meter.time_zone)
        )

    def give_up(self, call: UUID, reserving: asyncio.Future[Any]) -> None:
        """Give back what was reserved for a call that is not made."""
        if not reserving.cancelled() and reserving.exception() is None:
            self.take(FinishedCall(call, reserving.result()[0]))

    async def keep_renewing(self) -> None:
        """Hold on to the reservations of this process as long as there are any."""
        while self.held:
            await asyncio.sleep(settings.RUN_LEASE_SECONDS / RENEWALS_IN_LEASE)
            try:
                await self.execute(partial(reservations.renew, list(self.held), lease_end()))
            except (DatabaseError, InterfaceError) as error:
                logger.warning("What budgets hold back could not be renewed: %s", error)

    # --- After a call -------------------------------------------------------------------------

    def settle(self, entry: Entry) -> None:
        report = entry.report
        if not isinstance(report, ModelCallReport) or report.reservation is None:
            return
        call = report.reservation.call
        self.outputs.add(report.deployment, report.usage)
        self.take(FinishedCall(call, self.held.pop(call, ()), report, entry.ended_at))
        if not self.held and self.renewing is not None:
            self.renewing.cancel()
            self.renewing = None  # it is not over yet, and the next call needs one of its own

    def take(self, finished: FinishedCall) -> None:
        self.unsettled.append(finished)
        self.settling = begun(self.settling, self.keep_settling)

    async def keep_settling(self) -> None:
        while self.unsettled:
            try:
                await self.flush()
            except (OperationalError, InterfaceError) as error:
                logger.warning("What calls cost waits to be counted in budgets: %s", error)
                await asyncio.sleep(PAUSE_SECONDS)

    async def flush(self) -> None:
        """Settle what is over. Raises `OperationalError`, `InterfaceError`; it then still waits."""
        if not self.unsettled:
            return  # another one took it along; what is reserved next waits behind it on its thread
        calls, self.unsettled = self.unsettled, []
        try:
            await self.execute(partial(settle, calls))
        except (OperationalError, InterfaceError):
            self.unsettled = calls + self.unsettled
            raise
        except Exception:
            logger.exception("%d calls could not be counted in budgets", len(calls))

    async def close(self) -> None:
        """Settle what is over; the process ends."""
        if self.renewing is not None:
            self.renewing.cancel()
        if self.settling is not None:
            await asyncio.wait((self.settling,), timeout=CLOSING_SECONDS)
            self.settling.cancel()


def settle(calls: Sequence[FinishedCall]) -> None:
    reservations.settle(
        Settlement(hold, call.call, counted(hold, call)) for call in calls for hold in call.holds
    )


def counted(hold: Hold, call: FinishedCall) -> int | None:
    """In smallest parts; None where a price is missing."""
    report = call.report
    if report is None or report.is_paid_by_person:
        return 0
    if is_billed(report):
        return hold.amount
    return parts_of(
        hold.claim.rule, report.deployment, report.usage, call.ended_at, error=report.error
    )


def lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=settings.RUN_LEASE_SECONDS)


def notice_of(hold: Hold, now: datetime, time_zone: str) -> Noticed:
    text = sentence(hold.claim.rule, hold.used, hold.limit, now, time_zone)
    return Noticed(f"budget-{hold.window}", text)


def begun(
    task: asyncio.Task[None] | None, work: Callable[[], Coroutine[Any, Any, None]]
) -> asyncio.Task[None]:
    """The task, or a new one if it is over."""
    return asyncio.create_task(work()) if task is None or task.done() else task
