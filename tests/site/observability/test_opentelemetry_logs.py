"""A server's log in the operator's format and exported, and its metrics on a separate port."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import SeverityNumber

from tests.contract import proves
from tests.dial_core import serve_core
from tests.site.observability.test_tracing import (
    MANIFEST,
    SECONDS,
    TYPE,
    Collector,
    serve_collector,
)
from tests.sites.serving import serve

TEMPLATE = {"at": "%(asctime)s", "who": ["%(name)s", "%(levelname)s"], "said": "%(message)s"}


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def records(collector: Collector) -> dict[str, Any]:
    """Return the newest exported record of each body."""
    requests = map(ExportLogsServiceRequest.FromString, collector.bodies("/v1/logs"))
    return {
        record.body.string_value: record
        for request in requests
        for resource in request.resource_logs
        for scope in resource.scope_logs
        for record in scope.log_records
    }


@proves("19")
async def test_a_server_exports_its_log_and_is_scraped_at_its_port(tmp_path: Path):
    port = free_port()
    with (
        serve_collector() as collector,
        serve_core() as core,
        serve(
            tmp_path,
            DIAL_URL=core.url,
            DIAL_SDK_LOG_FORMAT="json",
            DIAL_SDK_JSON_LOG_FORMAT=json.dumps(TEMPLATE),
            QUICKAPP_LOG_LEVEL="DEBUG",
            LOG_PAYLOADS="true",
            OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
            OTEL_LOGS_EXPORTER="otlp",
            OTEL_BLRP_SCHEDULE_DELAY="50",
            OTEL_TRACES_EXPORTER="none",
            OTEL_METRICS_EXPORTER="prometheus",
            OTEL_EXPORTER_PROMETHEUS_PORT=str(port),
        ) as site,
    ):
        address = f"{site.url}/openai/deployments/quick_apps2/chat/completions"
        core.add_schema(TYPE, address, MANIFEST)
        core.add_application("kept", None, MANIFEST, TYPE)
        core.add_model("gpt", [[{"text": "Marked answer."}]])

        question = {"messages": [{"role": "user", "content": "Marked question."}]}
        reply = await core.call_application("kept", question)
        with collector.changed:
            done = collector.changed.wait_for(
                lambda: "Request completed" in records(collector), SECONDS
            )
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as scrape:
            measured = scrape.read().decode()

    exported = records(collector)
    assert (reply.status, done) == (200, True)
    received = exported["Request received"]
    assert received.severity_number == SeverityNumber.SEVERITY_NUMBER_INFO
    assert {one.key: one.value.int_value for one in received.attributes if one.value.int_value} == {
        "messages": 1
    }
    assert "quickapps_http_requests_total" in measured
    assert "quickapps_page_runs" in measured
    assert not any(path == "/v1/metrics" for path, _ in collector.raw)
    lines = site.log.read_text(errors="replace")
    assert "Marked question." in lines  # the log has payloads, which are not exported
    assert not any(b"Marked" in body for _, body in collector.raw)
    written = [json.loads(line) for line in lines.splitlines() if line.startswith("{")]
    received_line = next(one for one in written if one["said"].startswith("Request received"))
    assert received_line["who"] == ["apps.runs.run", "INFO"]
    assert received_line.keys() == TEMPLATE.keys()
