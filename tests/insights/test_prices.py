"""Services and prices by which calls are counted."""

from datetime import date
from decimal import Decimal

import pytest

from apps.agent.events import ModelUsage
from apps.agent.meter import ModelCallReport
from apps.insights import prices
from apps.insights.models import Price
from apps.insights.prices import EntryCost, recent_services
from tests.catalog.rows import make_deployment

pytestmark = pytest.mark.django_db
DAY = date(2026, 5, 4)


def spent() -> EntryCost:
    usage = ModelUsage("gpt", 1_000_000, 0)
    return recent_services(["gpt"])["gpt"].spent(ModelCallReport("gpt", 1.0, (usage,)), usage, DAY)


def test_a_new_price_counts_within_seconds_and_none_asks_the_database_again(
    django_assert_num_queries, monkeypatch
):
    monkeypatch.setattr(prices, "SERVICES_SECONDS", 600.0)
    price = Price.objects.create(
        deployment=make_deployment("gpt"), valid_from=date(2020, 1, 1), input=Decimal(2)
    )
    assert spent().cost == 2

    price.input = Decimal(3)
    price.save()
    with django_assert_num_queries(0):
        assert spent().cost == 2
    monkeypatch.setattr(prices, "SERVICES_SECONDS", 0.0)

    assert spent().cost == 3
