"""Exports spans with OpenTelemetry, if its environment variables configure this."""

import logging
import os
from collections.abc import Iterable

from opentelemetry import trace

from apps import tracing

logger = logging.getLogger(__name__)

ADDRESSES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
SERVICE = "quickapps"
NO_PACKAGES = "%s is set, but the packages for it are missing: install the extra `tracing`. No %s are exported."


def set_up_tracing() -> None:
    """Set up the export of spans, once at startup.

    Without an endpoint for spans, no spans are created, unless the process was started with its own
    tracer provider, for example by OpenTelemetry's launcher.
    """
    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        tracing.start()
        return
    if "otlp" not in exporters_of("OTEL_TRACES_EXPORTER", ADDRESSES):
        return
    try:
        # The packages are optional.
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        logger.warning(NO_PACKAGES, " or ".join(ADDRESSES), "spans")
        return
    os.environ.setdefault("OTEL_SERVICE_NAME", SERVICE)
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    tracing.start()


def exporters_of(variable: str, addresses: Iterable[str] = ()) -> frozenset[str]:
    """Return the names of the exporters in an environment variable. The default is `otlp` if one of
    the variables `addresses` contains an endpoint.
    """
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return frozenset()
    named = os.environ.get(variable)
    if not named:
        return frozenset({"otlp"}) if any(map(os.environ.get, addresses)) else frozenset()
    return frozenset(name.strip() for name in named.split(","))
