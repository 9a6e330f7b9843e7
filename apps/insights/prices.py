"""Finds the price for a deployment: the operator's price, or else the service's list price."""

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import NamedTuple, Self

from apps import process_state
from apps.agent.events import ModelUsage
from apps.agent.meter import ModelCallReport
from apps.catalog.history.recorded_models import RowKind
from apps.insights.models import LONGEST_NAME, Price
from apps.insights.rates import Rates, flat, listed_rates
from apps.process_state import AgedCache, on_reset
from apps.workspace.local.models import Deployment

DIAL = "dial"
"""The provider of deployments that have no database row. These deployments belong to DIAL Core."""

SERVICES_SECONDS = 10.0
"""The cache lifetime of services and prices in seconds. New prices take effect within this time."""

SERVICE_COLUMNS = (
    *("deployment_id", "display_name", "provider", "model_name", "base_url", "features"),
)

PRICE_KIND = RowKind(
    Price,
    (
        *("deployment_id", "valid_from", "currency"),
        *("input", "cached", "created", "output", "per_call"),
    ),
    # If a deleted past price is needed again, an operator must re-enter it.
    restorable=False,
)


def rates_of(price: Price) -> Rates:
    return Rates(
        input=flat(price.input),
        output=flat(price.output),
        cached=flat(price.cached),
        created=flat(price.created),
        per_call=price.per_call,
        currency=price.currency,
    )


class EntryCost(NamedTuple):
    """The model and cost of one entry in a call's usage report. `cost` is None if it is unknown."""

    model: str
    cost: Decimal | None
    currency: str


@dataclass(slots=True)
class PricedService:
    """The model service of a deployment, and its prices."""

    provider: str
    model: str
    base_url: str | None = None
    """The URL of the service, "" for a built-in model, or None for DIAL Core."""
    title: str = ""
    prices: list[tuple[date, Rates]] = field(default_factory=list)
    """The operator's prices, each with the first day on which it applies, newest first."""

    @classmethod
    def of(cls, row: Deployment) -> Self:
        base_url = None if row.speaks_dial else row.base_url
        model = row.model_name or row.deployment_id
        return cls(row.provider, model, base_url, row.display_name)

    @property
    def is_built_in(self) -> bool:
        """True if the model is built in. Its calls then cost nothing."""
        return self.base_url == ""

    def spent(self, report: ModelCallReport, usage: ModelUsage | None, day: date) -> EntryCost:
        """Return the cost of one usage entry, or of the whole call if `usage` is None."""
        model = self.model_of(report.deployment, usage)
        if report.is_paid_by_person:
            return EntryCost(model, Decimal(), "")
        rates = self.rates(model, day, is_only=len(report.usage) <= 1)
        cost = None if rates is None else rates.cost(usage, has_failed=bool(report.error))
        return EntryCost(
            model, cost, rates.currency if rates is not None and cost is not None else ""
        )

    def rates(self, model: str, day: date, *, is_only: bool = True) -> Rates | None:
        """Return the rates for a model on a day, or None if it has no price.

        If a call reports several models (`is_only` is False), the operator's price applies only to
        the deployment's own model.
        """
        own = next((rates for start, rates in self.prices if start <= day), None)
        if own is not None and (is_only or model == self.model):
            return own
        if self.is_built_in:
            return None
        return listed_rates(model[:LONGEST_NAME], self.base_url, day)

    def model_of(self, deployment: str, usage: ModelUsage | None) -> str:
        """Return the model that a usage entry names. If the entry names only the deployment, or if
        `usage` is None, return the deployment's own model.
        """
        named = usage.model if usage is not None else deployment
        return self.model if named == deployment else named


def find_services(deployments: Collection[str]) -> dict[str, PricedService]:
    """Return the services of deployments by deployment ID. Runs two queries."""
    rows = Deployment.objects.filter(deployment_id__in=deployments).only(*SERVICE_COLUMNS)
    found = {row.deployment_id: row for row in rows}
    prices = by_deployment(Price.objects.filter(deployment__in=found.values()))
    services = {}
    for name in deployments:
        row = found.get(name)
        services[name] = PricedService(DIAL, name) if row is None else PricedService.of(row)
        if row is not None:
            services[name].prices = prices[row.pk]
    return services


def by_deployment(prices: Iterable[Price]) -> dict[int, list[tuple[date, Rates]]]:
    found = defaultdict(list)
    for price in sorted(prices, key=lambda one: one.valid_from, reverse=True):
        found[price.deployment_id].append((price.valid_from, rates_of(price)))
    return found


_recent: AgedCache[str, PricedService] = AgedCache()


def recent_services(deployments: Iterable[str]) -> dict[str, PricedService]:
    """Return the services of deployments by deployment ID, cached for `SERVICES_SECONDS`."""
    names = set(deployments)
    kept = {name: _recent.get(name, SERVICES_SECONDS) for name in names}
    services = {name: service for name, service in kept.items() if service is not None}
    if missing := names - services.keys():
        for name, service in find_services(missing).items():
            _recent.put(name, service)
            services[name] = service
    return services


class PriceList:
    """Caches the services and prices of all deployments, to compute costs without a query. The
    cache is empty until the first refresh.
    """

    def __init__(self) -> None:
        self.services: Mapping[str, PricedService] = {}
        self.read_at: float | None = None

    def forget(self) -> None:
        self.services, self.read_at = {}, None

    def refresh(self) -> None:
        """Read the prices again if they are older than `MAX_AGE_SECONDS`."""
        now = time.monotonic()
        if self.read_at is not None and now - self.read_at < process_state.MAX_AGE_SECONDS:
            return
        names = Deployment.objects.values_list("deployment_id", flat=True)
        self.services, self.read_at = find_services(set(names)), now
        today = datetime.now(UTC).date()
        for service in self.services.values():
            service.rates(service.model, today)  # Cached here, not while answers are streaming.

    def service(self, deployment: str) -> PricedService:
        """Return the service of a deployment. An unknown deployment is treated as a deployment of
        DIAL Core.
        """
        return self.services.get(deployment) or PricedService(DIAL, deployment, title=deployment)


PRICES = PriceList()
on_reset(PRICES.forget)
