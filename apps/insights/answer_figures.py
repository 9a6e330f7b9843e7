"""What one answer cost: summed up while its calls end, by prices that are known by then."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal

import msgspec

from apps.agent.meter import CANCELLED, ModelCallReport, Reservation, ToolCallReport
from apps.agent.model import ModelRequest
from apps.agent.sent_request import SentRequest
from apps.insights.meter import RunMeter
from apps.insights.price_list import PRICES
from apps.insights.prices import Service
from apps.manifest.features import Figure

MOST_MODELS = 20
"""That an answer names; a helper may ask any number."""


@dataclass(frozen=True, slots=True)
class AnswerFigures:
    """Of the calls so far, those of applications inside of the one that answers included.

    `models` are titles of deployments, in the order in which they first answered. Without
    `is_priced` the cost of a call is not known, so `costs`, by currency, are not all. `told` are
    the figures that the application tells people, None for all.
    """

    version: int = 0
    models: tuple[str, ...] = ()
    costs: Mapping[str, Decimal] = field(default_factory=dict)
    is_priced: bool = True
    told: tuple[Figure, ...] | None = None

    def tells(self, figure: Figure) -> bool:
        return self.told is None or figure in self.told

    def with_call(self, report: ModelCallReport, service: Service, day: date) -> "AnswerFigures":
        costs, is_priced = dict(self.costs), self.is_priced
        for usage in () if report.is_paid_by_person else report.usage or (None,):
            _, cost, currency = service.spent(report, usage, day)
            if cost is not None:
                costs[currency] = costs.get(currency, Decimal()) + cost
            elif has_cost(report, service):
                is_priced = False
        models = self.models
        title = service.title or report.deployment
        # Embedders say nothing and finish for no reason; they are no models that answer.
        is_answer = report.finish_reason or report.first_text_seconds is not None
        if is_answer and title not in models and len(models) < MOST_MODELS:
            models = (*models, title)
        return replace(self, models=models, costs=costs, is_priced=is_priced)


def has_cost(report: ModelCallReport, service: Service) -> bool:
    """Whether a call costs something that may be unknown; a refused one does not."""
    if service.is_built_in:
        return False
    return report.error in ("", CANCELLED) or bool(report.usage)


class FiguresMeter(msgspec.Struct):
    """Hands on what it hears, and tells the figures of the answer after each call of a model."""

    meter: RunMeter
    tell: Callable[[ModelCallReport], None]

    @property
    def keeps_requests(self) -> bool:
        return self.meter.keeps_requests

    def request_sent(self, request: SentRequest) -> None:
        self.meter.request_sent(request)

    async def admit(self, deployment: str, request: ModelRequest) -> Reservation | None:
        return await self.meter.admit(deployment, request)

    def model_called(self, report: ModelCallReport) -> None:
        self.meter.model_called(report)
        self.tell(report)

    def tool_called(self, report: ToolCallReport) -> None:
        self.meter.tool_called(report)

    def inside(self, application: str, version: int) -> "FiguresMeter":
        return FiguresMeter(self.meter.inside(application, version), self.tell)


def with_call(figures: AnswerFigures, report: ModelCallReport) -> AnswerFigures:
    """The figures with a call that ended now, by the prices of the process."""
    today = datetime.now(UTC).date()
    return figures.with_call(report, PRICES.service(report.deployment), today)
