"""Serves a process's metrics on a separate port, if OpenTelemetry's environment variables configure
it.
"""

import logging
import threading
from http.server import ThreadingHTTPServer
from typing import TYPE_CHECKING

from django.db import connections

from quickapps_site import environment as env
from quickapps_site.observability.opentelemetry_metrics import VARIABLE
from quickapps_site.observability.tracing import exporters_of

if TYPE_CHECKING:  # Importing the package takes a tenth of a second, and few processes need it.
    from apps.gateway.prometheus import PrometheusSink

logger = logging.getLogger(__name__)

PORT = 9464
"""The default port for metrics, as in OpenTelemetry's exporter."""


def is_scraped() -> bool:
    return "prometheus" in exporters_of(VARIABLE)


def serve_scrapes(sink: "PrometheusSink") -> None:
    """Serve the metrics in a thread until the process ends. If the port is in use, only log a
    warning.

    Raises `ImproperlyConfigured` if the port is invalid.
    """
    # Imported only if metrics are scraped.
    from prometheus_client import MetricsHandler

    class ScrapeHandler(MetricsHandler):
        def finish(self) -> None:
            super().finish()
            connections.close_all()  # Gauges query the database.

    host = env.text("OTEL_EXPORTER_PROMETHEUS_HOST") or "localhost"
    port = env.integer("OTEL_EXPORTER_PROMETHEUS_PORT", PORT, least=1, most=65535)
    try:
        server = ThreadingHTTPServer((host, port), ScrapeHandler.factory(sink.registry))
    except OSError as error:
        logger.warning(
            "Metrics cannot be served at %s:%d: %s. Each process needs a port of its own: set "
            "OTEL_EXPORTER_PROMETHEUS_PORT.",
            host,
            port,
            error.strerror,
        )
        return
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="prometheus", daemon=True).start()
