"""The rates of deployments: an operator's own, else the list price of the model's service."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import NamedTuple, Self

from apps.aged_cache import AgedCache
from apps.agent.events import ModelUsage
from apps.agent.meter import ModelCallReport
from apps.catalog.history.kinds import RowKind
from apps.insights.models import LONGEST_NAME, Price
from apps.insights.rates import Rates, flat, listed_rates
from apps.workspace.local.deployments import speaks_dial
from apps.workspace.local.models import Deployment

DIAL = "dial"
"""The provider of deployments that have no row here: DIAL Core has them."""

SERVICES_SECONDS = 10.0
"""How long a deployment's service and prices are kept: calls cost what a new price says so much later."""

SERVICE_COLUMNS = (
    *("deployment_id", "display_name", "provider", "model_name", "base_url", "features"),
)

PRICE_KIND = RowKind(
    Price,
    (
        *("deployment_id", "valid_from", "currency"),
        *("input", "cached", "created", "output", "per_call"),
    ),
    restorable=False,  # a price of the past is typed again, if it has to be
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


class Spent(NamedTuple):
    """What an entry of a usage cost, and which model it is about."""

    model: str
    cost: Decimal | None
    currency: str


@dataclass(slots=True)
class Service:
    """The service behind a deployment: `model` is its name there, `base_url` None for DIAL.

    `title` is the deployment's for people. `prices` are the operator's, by the day from which they
    are valid, the newest first.
    """

    provider: str
    model: str
    base_url: str | None = None
    title: str = ""
    prices: list[tuple[date, Rates]] = field(default_factory=list)

    @classmethod
    def of(cls, row: Deployment) -> Self:
        base_url = None if speaks_dial(row.features) else row.base_url
        model = row.model_name or row.deployment_id
        return cls(row.provider, model, base_url, row.display_name)

    @property
    def is_built_in(self) -> bool:
        """Whether its model comes with the server, and costs nothing."""
        return self.base_url == ""

    def spent(self, report: ModelCallReport, usage: ModelUsage | None, day: date) -> Spent:
        """On an entry of the usage of a call of that day; on one without usage, if that is None."""
        model = self.model_of(report.deployment, usage)
        if report.is_paid_by_person:
            return Spent(model, Decimal(), "")
        rates = self.rates(model, day, is_only=len(report.usage) <= 1)
        cost = None if rates is None else rates.cost(usage, has_failed=bool(report.error))
        return Spent(model, cost, rates.currency if rates is not None and cost is not None else "")

    def rates(self, model: str, day: date, *, is_only: bool = True) -> Rates | None:
        """Of one of its models on a day; None for no price.

        `is_only`: the call was reported under no other name, so the operator's price is for it.
        """
        own = next((rates for start, rates in self.prices if start <= day), None)
        if own is not None and (is_only or model == self.model):
            return own
        if self.is_built_in:
            return None
        return listed_rates(model[:LONGEST_NAME], self.base_url, day)

    def model_of(self, deployment: str, usage: ModelUsage | None) -> str:
        """The model that an entry of a usage is about."""
        named = usage.model if usage is not None else deployment
        return self.model if named == deployment else named


def find_services(deployments: Collection[str]) -> dict[str, Service]:
    """By deployment, in two queries."""
    rows = Deployment.objects.filter(deployment_id__in=deployments).only(*SERVICE_COLUMNS)
    found = {row.deployment_id: row for row in rows}
    prices = by_deployment(Price.objects.filter(deployment__in=found.values()))
    services = {}
    for name in deployments:
        row = found.get(name)
        services[name] = Service(DIAL, name) if row is None else Service.of(row)
        if row is not None:
            services[name].prices = prices[row.pk]
    return services


def by_deployment(prices: Iterable[Price]) -> dict[int, list[tuple[date, Rates]]]:
    found = defaultdict(list)
    for price in sorted(prices, key=lambda one: one.valid_from, reverse=True):
        found[price.deployment_id].append((price.valid_from, rates_of(price)))
    return found


_recent: AgedCache[str, Service] = AgedCache()


def recent_services(deployments: Iterable[str]) -> dict[str, Service]:
    """By deployment, as they were at most `SERVICES_SECONDS` ago."""
    names = set(deployments)
    kept = {name: _recent.get(name, SERVICES_SECONDS) for name in names}
    services = {name: service for name, service in kept.items() if service is not None}
    if missing := names - services.keys():
        for name, service in find_services(missing).items():
            _recent.put(name, service)
            services[name] = service
    return services


def forget() -> None:
    _recent.clear()
