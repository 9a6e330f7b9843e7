"""The geometry of charts."""

from __future__ import annotations

import pytest

from apps.console.admin.charts import Chart, Place, Series, round_up

LABELS = ["1 May", "2 May", "3 May"]


def test_bars_stand_on_each_other():
    series = [Series("answered", [3, 0, 4]), Series("failed", [1, 0, 1])]

    chart = Chart("Calls", "bars", LABELS, series)

    assert (chart.top, chart.top_text, chart.ends) == (5.0, "5", ("1 May", "2 May", "3 May"))
    assert chart.paths == [
        (1, "M0.1 40.00h0.8v60.00h-0.8zM2.1 20.00h0.8v80.00h-0.8z"),
        (2, "M0.1 20.00h0.8v20.00h-0.8zM2.1 0.00h0.8v20.00h-0.8z"),
    ]
    assert chart.places == [
        Place(0, "1 May: answered 3, failed 1"), Place(2, "3 May: answered 4, failed 1")
    ]  # fmt: skip
    assert chart.description == "answered: at most 4, 3 May. failed: at most 1, 1 May."


def test_a_line_is_interrupted_where_there_is_no_value():
    chart = Chart("Time", "steps", LABELS, [Series("p50", [1.0, None, 0.5])], "s")

    assert chart.paths == [(1, "M0 0.00H1M2 50.00H3")]
    assert chart.top_text == "1.00 s"


def test_a_chart_without_values_is_told_from_one_with_values():
    assert not Chart("Calls", "bars", LABELS, [Series("all", [0, 0, 0])]).has_values
    assert not Chart("Time", "steps", LABELS, [Series("p50", [None] * 3)]).has_values
    assert Chart("Calls", "bars", LABELS, [Series("all", [0, 1, 0])]).has_values


@pytest.mark.parametrize(
    ("value", "top"),
    [(0, 1.0), (0.003, 0.005), (1, 1.0), (1.1, 2.0), (4.2, 5.0), (7, 10.0), (1000, 1000.0)],
)
def test_the_upper_end_is_a_round_number(value, top):
    assert round_up(value) == pytest.approx(top)
