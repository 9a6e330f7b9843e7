"""Counters, histograms and gauges, as reported to Prometheus and OpenTelemetry."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from apps import metrics
from apps.gateway.prometheus import PrometheusSink
from apps.metrics import Gauge, Instrument
from quickapps_site.observability.opentelemetry_metrics import OpenTelemetrySink
from tests.contract import proves
from tests.measuring.metrics import connected, samples

CALLS = Instrument("test_calls", "Calls.", ("model", "outcome"))
SECONDS = Instrument("test_seconds", "Durations.", ("model",), (0.5, 1.0))
ROOM = Gauge("test_room", "Places.", lambda: [(("here",), 3), (("there",), 4)], ("where",))


def count() -> None:
    CALLS.add(1, "gpt", "done")
    CALLS.add(2, "gpt", "failed")
    CALLS.add(1, "gpt", "done")
    for seconds in (0.25, 0.75, 4):
        SECONDS.add(seconds, "gpt")


def test_without_a_sink_nothing_is_counted():
    CALLS.add(1, "gpt", "done")

    assert not metrics.is_on()
    with connected(sink := PrometheusSink()):
        assert samples(sink, "test_") == {}


def test_a_scrape_tells_what_was_counted_and_what_there_is_now():
    with connected(sink := PrometheusSink(), ROOM):
        count()
        found = samples(sink, "test_")
        text = sink.text().decode()

    assert found == {
        'test_calls_total{model="gpt",outcome="done"}': 2,
        'test_calls_total{model="gpt",outcome="failed"}': 2,
        'test_seconds_count{model="gpt"}': 3,
        'test_seconds_sum{model="gpt"}': 5,
        'test_room{where="here"}': 3,
        'test_room{where="there"}': 4,
    }
    assert 'test_seconds_bucket{le="0.5",model="gpt"} 1.0' in text
    assert 'test_seconds_bucket{le="1.0",model="gpt"} 2.0' in text
    assert "process_cpu_seconds_total" in text


def read(reader: InMemoryMetricReader) -> dict[tuple[str, Any], Any]:
    """Return values, or count, sum and bins, by name and labels."""
    data: Any = reader.get_metrics_data()
    return {
        (metric.name, tuple(sorted(point.attributes.items()))): (
            (point.count, point.sum, tuple(point.bucket_counts))
            if hasattr(point, "bucket_counts")
            else point.value
        )
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.data.data_points
    }


@proves("T-62")
def test_opentelemetry_is_told_the_same():
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    with connected(OpenTelemetrySink(provider.get_meter("test")), ROOM):
        count()
        found = read(reader)
    provider.shutdown()

    assert found == {
        ("test_calls", (("model", "gpt"), ("outcome", "done"))): 2,
        ("test_calls", (("model", "gpt"), ("outcome", "failed"))): 2,
        ("test_seconds", (("model", "gpt"),)): (3, 5, (1, 1, 1)),
        ("test_room", (("where", "here"),)): 3,
        ("test_room", (("where", "there"),)): 4,
    }


def test_series_beyond_the_most_are_counted_together(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(metrics, "MOST_SERIES", 2)

    with connected(sink := PrometheusSink()):
        for name in ("a", "b", "c", "d", "a"):
            CALLS.add(1, name, "done")
        found = samples(sink, "test_calls")

    assert found == {
        'test_calls_total{model="a",outcome="done"}': 2,
        'test_calls_total{model="b",outcome="done"}': 1,
        'test_calls_total{model="other",outcome="other"}': 2,
    }


def test_threads_that_count_at_the_same_time_lose_nothing():
    def work(number: int) -> None:
        for turn in range(200):
            CALLS.add(1, f"m{turn % 20}", "done")

    with connected(sink := PrometheusSink()), ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
        found = samples(sink, "test_calls")

    assert len(found) == 20
    assert sum(found.values()) == 1600
