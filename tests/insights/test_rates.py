"""Costs of calls, and the list prices of services."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from apps.agent.events import ModelUsage
from apps.insights.rates import Rates, flat, listed_rates

TODAY = date(2026, 3, 1)
OPENAI = "https://api.openai.com/v1"


def rates(input: str, **prices: str) -> Rates:
    own: dict[str, Any] = {name: flat(Decimal(price)) for name, price in prices.items()}
    return Rates(flat(Decimal(input)), **own)


def test_each_token_costs_its_own_price():
    known = rates(input="2", output="8", cached="0.5", created="2.5")

    cost = known.cost(ModelUsage("gpt", 1000, 100, cached=300, created=200, reasoning=50))

    # 500 at 2, 300 at 0.5, 200 at 2.5, 100 at 8; reasoning is part of the output
    assert cost == Decimal("0.00245")


def test_cached_tokens_without_a_price_cost_what_the_others_do():
    cost = rates(input="2").cost(ModelUsage("gpt", 1000, 0, cached=300, created=200))

    assert cost == Decimal("0.002")


def test_a_price_may_depend_on_the_size_of_the_input():
    known = Rates(((0, Decimal(1)), (200, Decimal(2))))

    costs = [known.cost(ModelUsage("gpt", tokens, 0)) for tokens in (199, 200)]

    assert costs == [Decimal("0.000199"), Decimal("0.0004")]


def test_a_call_has_its_price_too_unless_it_failed():
    known = Rates(flat(Decimal(2)), per_call=Decimal("0.04"))

    answered, silent = known.cost(ModelUsage("gpt", 1000, 0)), known.cost(None)
    failed = known.cost(None, has_failed=True)

    assert (answered, silent, failed) == (Decimal("0.042"), Decimal("0.04"), None)


def test_without_a_count_of_tokens_there_is_no_cost():
    assert rates(input="2", output="8").cost(None) is None


def test_a_model_of_a_known_service_has_its_list_price():
    found = listed_rates("gpt-4o", OPENAI, TODAY)

    assert found == Rates(
        flat(Decimal("2.5")), output=flat(Decimal(10)), cached=flat(Decimal("1.25"))
    )


def test_the_list_has_prices_that_depend_on_the_size_of_the_input():
    found = listed_rates("gemini-2.5-pro", None, TODAY)

    assert found is not None
    assert found.input == ((0, Decimal("1.25")), (200_000, Decimal("2.5")))


@pytest.mark.parametrize(
    ("model", "base_url"),
    [("no-such-model-7b", OPENAI), ("gpt-4o", "http://10.0.0.7:8000/v1"), ("nothing", None)],
)
def test_an_unknown_model_or_service_has_no_price(model, base_url):
    assert listed_rates(model, base_url, TODAY) is None
