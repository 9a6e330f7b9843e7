"""Applies separate limits to runs that no user started: a budget, and a timeout for questions to
the user.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from time import time
from typing import Any, Self

import msgspec
from django.utils.translation import gettext_noop

from apps.agent.events import Emit, Event, InteractionRequested, ModelUsage
from apps.agent.ledger import InteractionKind, InteractionRequest
from apps.agent.meter import Meter, ModelCallReport, Reservation, SentRequest, ToolCallReport
from apps.agent.model import ModelRequest
from apps.conversations.outcome.transcript import Transcript
from apps.errors import BudgetSpent

LIMITED: frozenset[InteractionKind] = frozenset({"approval", "question", "sign_in"})
"""The kinds of questions whose default timeouts are overridden, because these timeouts assume that
the user is present.
"""


@dataclass(frozen=True, slots=True)
class UnattendedLimits:
    """The limits for a run that a schedule, alarm or webhook started. None means no limit."""

    seconds: float | None = None
    """The timeout for questions to the user."""
    tokens: int | None = None
    money: Decimal | None = None
    currency: str = ""

    @classmethod
    def read(cls, stored: Mapping[str, Any] | None) -> Self | None:
        """Parse the JSON in `Run.unattended`. Return None for a run that a user started."""
        if stored is None:
            return None
        budget = stored.get("budget") or {}
        money = budget.get("money")
        return cls(
            stored["seconds"],
            budget.get("tokens"),
            None if money is None else Decimal(money),
            budget.get("currency", ""),
        )

    def adjust_timeout(self, request: InteractionRequest) -> InteractionRequest:
        """Return the question to the user with this run's timeout in place of the default."""
        return replace(request, seconds=self.seconds) if request.kind in LIMITED else request

    def emitting(self, emit: Emit) -> Emit:
        """Return an `emit` function that applies this run's timeout to questions."""

        def emit_with_timeout(event: Event) -> None:
            if isinstance(event, InteractionRequested):
                asked = self.adjust_timeout(event.interaction)
                due = None if asked.seconds is None else time() + asked.seconds
                event = InteractionRequested(asked, due)
            emit(event)

        return emit_with_timeout


class Spending:
    """Compares the tokens and money that a run has spent, in all processes, with the run's own
    budget.
    """

    def __init__(
        self, limits: UnattendedLimits, transcript: Transcript, usage: Iterable[ModelUsage] = ()
    ) -> None:
        self.limits = limits
        self.transcript = transcript
        """The transcript, whose metrics contain the costs of the calls so far."""
        self.tokens = tokens_of(usage)

    def check(self) -> None:
        """Raise `BudgetSpent` if the run's own budget is exhausted."""
        most = self.limits.tokens
        if most is not None and self.tokens >= most:
            raise BudgetSpent(
                gettext_noop(
                    "This run stopped because it reached its budget: {tokens} of {most} tokens. You can set a larger budget under “Scheduled”."
                ),
                tokens=self.tokens,
                most=most,
            )
        money, currency = self.limits.money, self.limits.currency
        spent = self.transcript.figures.costs.get(currency, Decimal())
        if money is not None and spent >= money:
            raise BudgetSpent(
                gettext_noop(
                    "This run stopped because it reached its budget: {spent} of {money} {currency}. You can set a larger budget under “Scheduled”."
                ),
                spent=f"{spent:f}",
                money=f"{money:f}",
                currency=currency,
            )


def tokens_of(usage: Iterable[ModelUsage]) -> int:
    return sum(one.input + one.output for one in usage)


class CappedMeter(msgspec.Struct):
    """A meter that rejects model calls once the run's own budget is exhausted."""

    meter: Meter
    spending: Spending

    @property
    def keeps_requests(self) -> bool:
        return self.meter.keeps_requests

    def request_sent(self, request: SentRequest) -> None:
        self.meter.request_sent(request)

    async def admit(self, deployment: str, request: ModelRequest) -> Reservation | None:
        self.spending.check()
        return await self.meter.admit(deployment, request)

    def model_called(self, report: ModelCallReport) -> None:
        self.spending.tokens += tokens_of(report.usage)
        self.meter.model_called(report)

    def tool_called(self, report: ToolCallReport) -> None:
        self.meter.tool_called(report)

    def inside(self, application: str, version: int) -> "CappedMeter":
        return CappedMeter(self.meter.inside(application, version), self.spending)
