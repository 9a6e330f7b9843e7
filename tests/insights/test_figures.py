"""Figures of a period: from the rows of calls, and from days that are summed up."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
import time_machine

from apps.insights.figures import Figures, report
from apps.insights.models import DailyUsage, SummedDay
from apps.insights.upkeep import sum_up_days
from tests.insights.calls import NOON, model_call, store, tool_use

pytestmark = pytest.mark.django_db

DAY, WEEK, MONTH = timedelta(days=1), timedelta(days=7), timedelta(days=30)
NOW = NOON + timedelta(hours=2)


@pytest.fixture(autouse=True)
def clock():
    with time_machine.travel(NOW, tick=False):
        yield


def test_fixed_rows_give_fixed_numbers():
    store(
        *(model_call(seconds=float(n), first_text_seconds=n / 10) for n in range(1, 21)),
        model_call(application="other", seconds=3.0, error="status 500", cost=None),
        model_call(started_at=NOW - DAY - timedelta(minutes=1), seconds=1000.0),
    )

    found = report("application", DAY)

    assert found.is_exact
    assert [(one.name, one.sums.calls, one.error_rate) for one in found.lines] == [
        ("travel", 20, 0.0), ("other", 1, 1.0)
    ]  # fmt: skip
    assert (found.lines[0].seconds, found.lines[0].first_text_seconds) == ((10.0, 19.0), (1.0, 1.9))
    assert (found.lines[1].seconds, found.lines[1].first_text_seconds) == ((3.0, 3.0), (None, None))
    assert (found.total.sums.calls, found.total.seconds) == (21, (10.0, 19.0))


def test_what_was_stopped_is_no_error():
    store(model_call(error="cancelled"), model_call(error="timeout"))

    [line] = report("deployment", DAY).lines

    assert (line.sums.calls, line.sums.errors) == (2, 1)


def test_the_cache_hit_rate_is_the_mean_of_the_calls_that_report_it():
    store(
        model_call(input_tokens=100, cached_tokens=50),
        model_call(input_tokens=10_000, cached_tokens=0),
        model_call(input_tokens=100),
    )

    [line] = report("deployment", DAY).lines

    assert line.cache_hit_rate == 0.25


def test_costs_are_told_apart_by_currency_and_calls_without_a_price_are_counted():
    store(
        model_call(cost=Decimal("0.10"), currency="USD"),
        model_call(cost=Decimal("0.20"), currency="USD"),
        model_call(cost=Decimal(3), currency="EUR"),
        model_call(),
    )

    [line] = report("bucket", MONTH).lines

    assert line.sums.costs == {"USD": Decimal("0.3"), "EUR": Decimal(3)}
    assert (line.name, line.sums.calls, line.sums.unpriced) == ("user-7", 4, 1)


def test_tools_have_figures_of_their_own():
    store(
        model_call(),
        tool_use(seconds=2.0),
        tool_use(seconds=4.0, has_failed=True),
        tool_use(tool="look", seconds=None, location="client"),
    )

    found = report("tool", DAY)

    assert [(one.name, one.sums.calls, one.sums.errors, one.seconds) for one in found.lines] == [
        ("search", 2, 1, (2.0, 4.0)),
        ("look", 1, 0, (None, None)),
    ]


def days_of_calls() -> None:
    store(
        *(
            model_call(
                started_at=NOON - timedelta(days=day),
                application=application,
                seconds=1.0 + day + number,
                first_text_seconds=0.1 * number,
                error="timeout" if number == 3 else "",
                input_tokens=1000 + number,
                cached_tokens=500,
                output_tokens=7,
                cost=Decimal("0.0000001") * number,
                currency="USD",
            )
            for day in range(20)
            for application in ("travel", "other")
            for number in range(1, 4)
        ),
        *(tool_use(started_at=NOON - timedelta(days=day)) for day in range(20)),
    )


@pytest.mark.parametrize("by", ["application", "deployment", "tool"])
def test_days_that_are_summed_up_have_the_same_sums_as_their_rows(by):
    days_of_calls()
    before = report(by, MONTH)

    done = sum_up_days()
    after = report(by, MONTH)

    assert done == 19
    assert rounded(after.total) == rounded(before.total)
    assert [rounded(line) for line in after.lines] == [rounded(line) for line in before.lines]
    exact = report(by, WEEK).is_exact
    assert (exact, after.is_exact) == (True, False)


def rounded(figures: Figures) -> Figures:
    figures.sums.cache_shares = round(figures.sums.cache_shares, 9)
    return figures


def test_rows_that_are_gone_are_still_in_the_sums():
    days_of_calls()
    sum_up_days()
    whole = report("application", MONTH).total.sums.calls
    from apps.insights.models import ModelCall

    ModelCall.objects.filter(started_at__lt=NOON - timedelta(days=10)).delete()

    assert report("application", MONTH).total.sums.calls == whole == 120
    assert SummedDay.objects.count() == 19
    assert DailyUsage.objects.count() == 19 * 3


def test_a_report_asks_few_queries(django_assert_max_num_queries):
    days_of_calls()
    sum_up_days()

    with django_assert_max_num_queries(7):
        report("application", MONTH)
    with django_assert_max_num_queries(5):
        report("application", WEEK)


def test_without_calls_there_is_nothing_to_tell():
    found = report("application", MONTH)

    assert (found.lines, found.total.error_rate, found.total.cache_hit_rate) == ((), None, None)
    assert found.total.seconds == (None, None)
