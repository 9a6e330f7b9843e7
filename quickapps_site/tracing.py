"""Spans leave the process where OpenTelemetry's own variables say."""

import logging
import os

from opentelemetry import trace

from apps import tracing

logger = logging.getLogger(__name__)

ADDRESSES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def set_up_tracing() -> None:
    """Once, at the start of the process.

    Without an address to send them to there are no spans, unless the process was started with a
    provider of its own, as OpenTelemetry's launcher does.
    """
    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        tracing.start()
        return
    is_off = (
        os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
        or os.environ.get("OTEL_TRACES_EXPORTER", "otlp") != "otlp"
        or not any(map(os.environ.get, ADDRESSES))
    )
    if is_off:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        logger.warning(
            "%s is set, but the packages for it are missing: install the extra `tracing`. "
            "There are no spans.",
            " or ".join(ADDRESSES),
        )
        return
    os.environ.setdefault("OTEL_SERVICE_NAME", "quickapps")
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    tracing.start()
