"""Empty metric sinks for a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from apps import metrics
from apps.gateway.prometheus import PrometheusSink
from apps.insights import call_metrics
from apps.metrics import Gauge, Sink


@contextmanager
def connected(sink: Sink, *gauges: Gauge) -> Iterator[None]:
    call_metrics._models.clear()
    metrics.connect(sink, gauges)
    try:
        yield
    finally:
        metrics.disconnect(sink)


def samples(sink: PrometheusSink, start: str = "quickapps_") -> dict[str, float]:
    """Return the samples of a scrape by name and labels, without bins of histograms."""
    lines = (line for line in sink.text().decode().splitlines() if line.startswith(start))
    parts = (line.rpartition(" ") for line in lines if "_bucket{" not in line)
    return {name: float(value) for name, _, value in parts}
