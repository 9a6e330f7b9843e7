from __future__ import annotations

import logging
import socket
from urllib.request import urlopen

import pytest

from apps.gateway.prometheus import PrometheusSink
from quickapps_site.observability.prometheus_port import is_scraped, serve_scrapes
from tests.tables import each_row


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        number = int(taken.getsockname()[1])
    monkeypatch.setenv("OTEL_EXPORTER_PROMETHEUS_PORT", str(number))
    return number


def test_a_second_process_logs_that_the_port_is_taken(port: int, caplog: pytest.LogCaptureFixture):
    with socket.socket() as taken, caplog.at_level(logging.WARNING):
        taken.bind(("127.0.0.1", port))
        taken.listen()

        serve_scrapes(PrometheusSink())

    assert caplog.messages == [
        f"Metrics cannot be served at localhost:{port}: Address already in use. Each process needs a "
        "port of its own: set OTEL_EXPORTER_PROMETHEUS_PORT."
    ]


def test_the_port_serves_the_metrics_of_the_process(port: int):
    serve_scrapes(PrometheusSink())

    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as scrape:
        assert b"python_gc_objects_collected_total" in scrape.read()


@each_row(
    ("exporters", "expected"),
    [(None, False), ("otlp", False), ("prometheus", True), ("otlp, prometheus", True)],
)
def test_the_variable_of_opentelemetry_names_the_exporters(exporters, expected):
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.delenv("OTEL_METRICS_EXPORTER", raising=False)
        if exporters is not None:
            monkeypatch.setenv("OTEL_METRICS_EXPORTER", exporters)

        assert is_scraped() is expected
