"""Delays of the last hour from fixed rows."""

from __future__ import annotations

from datetime import timedelta

import pytest

from apps.insights.latency import LatencyReport, ModelLatency, Seconds, ToolLatency, latency_report
from tests.contract import proves
from tests.insights.calls import NOON, model_call, store, tool_use

pytestmark = pytest.mark.django_db

NOW = NOON + timedelta(minutes=30)


@proves("T-61")
def test_fixed_rows_give_fixed_numbers_t_61():
    store(
        *(model_call(seconds=n / 10, first_text_seconds=n / 100) for n in range(1, 101)),
        model_call(seconds=20.0, error="status 429", input_tokens=100, cached_tokens=50),
        model_call(seconds=30.0, error="cancelled", input_tokens=1000, cached_tokens=250),
        model_call(seconds=None, input_tokens=10, cached_tokens=0),
        model_call(provider="anthropic", model="claude"),
        *(tool_use(seconds=n / 10) for n in range(1, 11)),
        tool_use(seconds=5.0, has_failed=True),
        tool_use(tool="form", location="client", seconds=None),
    )

    found = latency_report(NOW)

    search = ToolLatency("search", "server", 11, 1 / 11, {"p50": 0.6, "p95": 5.0, "p99": 5.0})
    unknown: Seconds = {"p50": None, "p95": None, "p99": None}
    form = ToolLatency("form", "client", 1, 0.0, unknown)
    second: Seconds = {"p50": 1.0, "p95": 1.0, "p99": 1.0}
    assert found == LatencyReport(
        models=[
            ModelLatency(
                "openai",
                "gpt-4o",
                102,
                1 / 102,
                {"p50": 0.5, "p95": 0.95, "p99": 0.99},
                {"p50": 5.1, "p95": 9.7, "p99": 20.0},
                0.25,
            ),
            ModelLatency("anthropic", "claude", 1, 0.0, unknown, second, None),
        ],
        tools=[search, form],
        locations=[
            ToolLatency("", "server", 11, 1 / 11, search.seconds),
            ToolLatency("", "client", 1, 0.0, unknown),
        ],
    )


@proves("T-61")
def test_a_row_that_is_61_minutes_old_is_out_t_61():
    store(
        model_call(started_at=NOW - timedelta(minutes=61)),
        model_call(started_at=NOW - timedelta(minutes=59)),
        tool_use(started_at=NOW - timedelta(minutes=61)),
    )

    found = latency_report(NOW)

    assert ([one.calls for one in found.models], found.tools) == ([1], [])


def test_failed_calls_of_test_messages_in_the_studio_are_out():
    store(
        model_call(),
        model_call(door="studio", error="status 401"),
        model_call(door="studio", model="mini"),
        tool_use(),
        tool_use(door="studio", has_failed=True),
    )

    found = latency_report(NOW)

    assert [(one.model, one.calls, one.error_rate) for one in found.models] == [
        ("gpt-4o", 1, 0.0),
        ("mini", 1, 0.0),
    ]
    assert [(one.tool, one.calls, one.error_rate) for one in found.tools] == [("search", 1, 0.0)]


@proves("T-61")
def test_the_calls_of_others_are_out_t_61():
    store(
        model_call(bucket="user-7"),
        model_call(bucket="user-8", model="other"),
        tool_use(bucket="user-8"),
    )

    found = latency_report(NOW, "user-7")

    assert [one.model for one in found.models] == ["gpt-4o"]
    assert (found.tools, found.locations) == ([], [])
