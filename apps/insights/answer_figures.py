"""Collects the models and costs of a running answer, at current prices."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal

import msgspec

from apps.agent.meter import CANCELLED, ModelCallReport, Reservation, SentRequest, ToolCallReport
from apps.agent.model import ModelRequest
from apps.insights.meter import RunMeter
from apps.insights.prices import PRICES, PricedService
from apps.manifest.features.features import Figure

MOST_MODELS = 20
"""The maximum number of models that an answer lists."""


@dataclass(frozen=True, slots=True)
class AnswerFigures:
    """The models and costs of an answer so far, including calls by nested applications."""

    version: int = 0
    models: tuple[str, ...] = ()
    """The titles of the deployments, in the order of their first calls."""
    costs: Mapping[str, Decimal] = field(default_factory=dict)
    """The cost of the answer so far, by currency."""
    is_priced: bool = True
    """False if the cost of a call is unknown, so that `costs` is incomplete."""
    told: tuple[Figure, ...] | None = None
    """The metrics that the application shows to users, or None for all."""

    def tells(self, figure: Figure) -> bool:
        return self.told is None or figure in self.told

    def with_call(
        self, report: ModelCallReport, service: PricedService, day: date
    ) -> "AnswerFigures":
        costs, is_priced = dict(self.costs), self.is_priced
        for usage in () if report.is_paid_by_person else report.usage or (None,):
            _, cost, currency = service.spent(report, usage, day)
            if cost is not None:
                costs[currency] = costs.get(currency, Decimal()) + cost
            elif has_cost(report, service):
                is_priced = False
        models = self.models
        title = service.title or report.deployment
        # Embedders return no text and no finish reason, so they do not count as models that answer.
        is_answer = report.finish_reason or report.first_text_seconds is not None
        if is_answer and title not in models and len(models) < MOST_MODELS:
            models = (*models, title)
        return replace(self, models=models, costs=costs, is_priced=is_priced)


def has_cost(report: ModelCallReport, service: PricedService) -> bool:
    """Return True if the service billed the call, even if its cost is unknown."""
    if service.is_built_in:
        return False
    return report.error in ("", CANCELLED) or bool(report.usage)


class FiguresMeter(msgspec.Struct):
    """Passes all reports to a run's meter. Reports about model calls are also passed to
    `on_model_call`.
    """

    meter: RunMeter
    on_model_call: Callable[[ModelCallReport], None]

    @property
    def keeps_requests(self) -> bool:
        return self.meter.keeps_requests

    def request_sent(self, request: SentRequest) -> None:
        self.meter.request_sent(request)

    async def admit(self, deployment: str, request: ModelRequest) -> Reservation | None:
        return await self.meter.admit(deployment, request)

    def model_called(self, report: ModelCallReport) -> None:
        self.meter.model_called(report)
        self.on_model_call(report)

    def tool_called(self, report: ToolCallReport) -> None:
        self.meter.tool_called(report)

    def inside(self, application: str, version: int) -> "FiguresMeter":
        return FiguresMeter(self.meter.inside(application, version), self.on_model_call)


def with_call(figures: AnswerFigures, report: ModelCallReport) -> AnswerFigures:
    """Add a model call to the metrics, using cached prices."""
    today = datetime.now(UTC).date()
    return figures.with_call(report, PRICES.service(report.deployment), today)
