"""Collects the metrics of this process with Prometheus's client library."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from apps.metrics import Gauge, Instrument, Labels, Tell

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4.encode()


@dataclass(frozen=True, slots=True)
class GaugeCollector(Collector):
    gauge: Gauge

    def collect(self) -> Iterator[Metric]:
        family = GaugeMetricFamily(self.gauge.name, self.gauge.text, labels=self.gauge.labels)
        for labels, value in self.gauge.read():
            family.add_metric(labels, value)
        yield family


@dataclass(slots=True)
class PrometheusSink:
    """Stores the metrics of this process."""

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    families: dict[str, Counter | Histogram] = field(default_factory=dict)
    """The library's counters and histograms, by metric name."""

    def __post_init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # nobody reads those series
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self.registry)

    def series(self, instrument: Instrument, labels: Labels) -> Tell:
        family: Any = self.families.get(instrument.name)
        if family is None:
            family = self.families[instrument.name] = self.family(instrument)
        one = family.labels(*labels) if labels else family
        tell: Tell = one.observe if instrument.bounds else one.inc
        return tell

    def family(self, instrument: Instrument) -> Counter | Histogram:
        named = (instrument.name, instrument.text, instrument.labels)
        if instrument.bounds:
            return Histogram(*named, registry=self.registry, buckets=instrument.bounds)
        return Counter(*named, registry=self.registry)

    def watch(self, gauge: Gauge) -> None:
        self.registry.register(GaugeCollector(gauge))

    def text(self) -> bytes:
        """Return all metrics in Prometheus's text format. This takes up to 0.1 seconds and can
        query the database.
        """
        return generate_latest(self.registry)
