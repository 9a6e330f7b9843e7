"""Exports metrics with OpenTelemetry, if its environment variables configure this."""

import logging
import os
from collections.abc import Iterable

from opentelemetry import metrics as opentelemetry
from opentelemetry.metrics import CallbackOptions, Meter, MeterProvider, Observation

from apps import metrics
from apps.metrics import Gauge, Instrument, Labels, Tell
from quickapps_site.observability.tracing import NO_PACKAGES, SERVICE, exporters_of

logger = logging.getLogger(__name__)

VARIABLE = "OTEL_METRICS_EXPORTER"
ADDRESSES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")


class OpenTelemetrySink:
    def __init__(self, meter: Meter) -> None:
        self.meter = meter

    def series(self, instrument: Instrument, labels: Labels) -> Tell:
        # The SDK returns the same instrument for the same name.
        attributes = dict(zip(instrument.labels, labels, strict=True))
        named = {"name": instrument.name, "description": instrument.text}
        if instrument.bounds:
            bounds = instrument.bounds
            histogram = self.meter.create_histogram(
                **named, explicit_bucket_boundaries_advisory=bounds
            )
            return lambda value: histogram.record(value, attributes)
        counter = self.meter.create_counter(**named)
        return lambda value: counter.add(value, attributes)

    def watch(self, gauge: Gauge) -> None:
        def read(options: CallbackOptions) -> Iterable[Observation]:
            for labels, value in gauge.read():
                yield Observation(value, dict(zip(gauge.labels, labels, strict=True)))

        self.meter.create_observable_gauge(gauge.name, [read], description=gauge.text)


def set_up_opentelemetry_metrics(gauges: Iterable[Gauge]) -> None:
    """Set up the export of metrics and of these gauges, once at startup."""
    provider = opentelemetry.get_meter_provider()
    if not is_set(provider):
        if "otlp" not in exporters_of(VARIABLE, ADDRESSES):
            return
        try:
            # The packages are optional.
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
            from opentelemetry.sdk import metrics as sdk
            from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        except ImportError:
            logger.warning(NO_PACKAGES, " or ".join(ADDRESSES), "metrics")
            return
        os.environ.setdefault("OTEL_SERVICE_NAME", SERVICE)
        provider = sdk.MeterProvider(
            metric_readers=[PeriodicExportingMetricReader(OTLPMetricExporter())]
        )
        opentelemetry.set_meter_provider(provider)
    metrics.connect(OpenTelemetrySink(provider.get_meter("quickapps")), gauges)


def is_set(provider: MeterProvider) -> bool:
    """Return True if the process was started with its own meter provider, for example by
    OpenTelemetry's launcher.
    """
    return not type(provider).__module__.startswith(opentelemetry.__name__)
