"""The rates of deployments: an operator's own, else the list price of the model's service."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Self

from apps.agent.events import ModelUsage
from apps.catalog.history.kinds import RowKind
from apps.insights.models import Price
from apps.insights.rates import Rates, flat, listed_rates
from apps.workspace.local.deployments import speaks_dial
from apps.workspace.local.models import Deployment

DIAL = "dial"
"""The provider of deployments that have no row here: DIAL Core has them."""

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


@dataclass(slots=True)
class Service:
    """The service behind a deployment: `model` is its name there, `base_url` None for DIAL.

    `prices` are the operator's, by the day from which they are valid, the newest first.
    """

    provider: str
    model: str
    base_url: str | None = None
    prices: list[tuple[date, Rates]] = field(default_factory=list)

    @classmethod
    def of(cls, row: Deployment) -> Self:
        base_url = None if speaks_dial(row.features) else row.base_url
        return cls(row.provider, row.model_name or row.deployment_id, base_url)

    def rates(self, model: str, day: date, *, is_only: bool = True) -> Rates | None:
        """Of one of its models on a day; None for no price.

        `is_only`: the call was reported under no other name, so the operator's price is for it.
        """
        own = next((rates for start, rates in self.prices if start <= day), None)
        if own is not None and (is_only or model == self.model):
            return own
        if self.base_url == "":  # the model comes with the server
            return None
        return listed_rates(model, self.base_url, day)

    def model_of(self, deployment: str, usage: ModelUsage | None) -> str:
        """The model that an entry of a usage is about."""
        named = usage.model if usage is not None else deployment
        return self.model if named == deployment else named


def find_services(deployments: Collection[str]) -> dict[str, Service]:
    """By deployment, in two queries."""
    rows = Deployment.objects.filter(deployment_id__in=deployments)
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
