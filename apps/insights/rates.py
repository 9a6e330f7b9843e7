"""What tokens cost: list prices of services, and the arithmetic of a call.

List prices come with the package `genai-prices`; nothing is asked of the network.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

from apps.agent.events import ModelUsage

if TYPE_CHECKING:
    from genai_prices.types import TieredPrices

MILLION = Decimal(1_000_000)

Tiers = tuple[tuple[int, Decimal], ...]
"""Prices of a million tokens, each from a size of the whole input on, the smallest first."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Without prices of their own, cached and created tokens cost what others of the input do."""

    input: Tiers
    output: Tiers = ()
    cached: Tiers = ()
    created: Tiers = ()
    per_call: Decimal = Decimal()
    currency: str = "USD"

    def cost(self, usage: ModelUsage | None, *, has_failed: bool = False) -> Decimal | None:
        """Of one call; None if it cannot be told, because the service reported no tokens.

        Failed calls cost nothing but the tokens that they report.
        """
        per_call = Decimal() if has_failed else self.per_call
        if usage is None:
            return per_call or None
        cached, created = usage.cached or 0, usage.created or 0
        parts = (
            (self.input, max(usage.input - cached - created, 0)),
            (self.cached or self.input, cached),
            (self.created or self.input, created),
            (self.output, usage.output),
        )
        prices = (rate_at(tiers, usage.input) * count for tiers, count in parts if count > 0)
        return per_call + sum(prices, start=Decimal()) / MILLION


def flat(price: Decimal | None) -> Tiers:
    return () if price is None else ((0, price),)


def rate_at(tiers: Tiers, tokens: int) -> Decimal:
    """The price of a million where the whole input has so many tokens."""
    if len(tiers) == 1:  # as most have it
        return tiers[0][1]
    return next((price for start, price in reversed(tiers) if tokens >= start), Decimal())


@lru_cache(maxsize=1000)
def listed_rates(model: str, base_url: str | None, day: date) -> Rates | None:
    """The service's list price of a model on a day; None for one that is not known.

    `base_url` is the service's address, whose owner has to be known: what a model of that name
    costs elsewhere says nothing. None for DIAL Core, behind which is any service.
    """
    # Imported with the first price, because its data take a moment to read.
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, found = get_snapshot().find_provider_model(model, None, None, base_url)
    except LookupError:
        return None
    prices = found.get_prices(datetime.combine(day, time(), UTC))
    names = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok")
    input, output, cached, created = (tiers_of(getattr(prices, name, None)) for name in names)
    return Rates(input, output, cached, created) if input else None


def tiers_of(price: "Decimal | TieredPrices | None") -> Tiers:
    if price is None or isinstance(price, Decimal):
        return flat(price)
    tiers: Iterable[tuple[int, Decimal]] = ((tier.start, tier.price) for tier in price.tiers)
    return ((0, price.base), *tiers)
