"""Computes the costs of calls, and looks up list prices in the `genai-prices` package."""

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
"""Pairs of a minimum input size in tokens and the price per million tokens for inputs of at least
this size, smallest size first.
"""


@dataclass(frozen=True, slots=True)
class Rates:
    """The prices for a model."""

    input: Tiers
    output: Tiers = ()
    cached: Tiers = ()
    """The price of input tokens read from the cache. If empty, the input price applies."""
    created: Tiers = ()
    """The price of input tokens written to the cache. If empty, the input price applies."""
    per_call: Decimal = Decimal()
    currency: str = "USD"

    def cost(self, usage: ModelUsage | None, *, has_failed: bool = False) -> Decimal | None:
        """Return the cost of a call, or None if it is unknown. A failed call costs only its
        tokens.
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
    """Return the price per million tokens for an input of this many tokens."""
    if len(tiers) == 1:  # Most models have one price.
        return tiers[0][1]
    return next((price for start, price in reversed(tiers) if tokens >= start), Decimal())


@lru_cache(maxsize=1000)
def listed_rates(model: str, base_url: str | None, day: date) -> Rates | None:
    """Return a model's list price on a day, or None if it is unknown.

    `base_url` is the URL of the service, because services have different prices for a model. It is
    None for DIAL Core, which may use any service.
    """
    # Imported with the first price, because its data is slow to load.
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
