"""Spans of a whole request, and metrics, as an OpenTelemetry collector receives them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from tests.contract import proves
from tests.dial_core import serve_core
from tests.servers.http import serving
from tests.sites.fork_server import ROOT
from tests.sites.serving import serve

TYPE = "https://mydial.epam.com/custom_application_schemas/quickapps2"
FAILED = Status.StatusCode.STATUS_CODE_ERROR
ROUTE = "POST /openai/deployments/{slug}/chat/completions"
CLOCK = "internal_timeawareness_current_timestamp"
MANIFEST = {
    "orchestrator": {
        "deployment": {"deployment_id": "gpt"},
        "system_prompt": {"type": "custom", "content": "Marked prompt.", "variables": {}},
    },
    "contexts": [],
    "tool_sets": [],
    "features": {"timestamp": {"injection_strategy": "tool_call"}},
}
SPENT = {"usage": {"prompt_tokens": 7, "completion_tokens": 5}}
SECONDS = 60.0


@dataclass
class Collector:
    """`url` is the value of OTEL_EXPORTER_OTLP_ENDPOINT."""

    url: str = ""
    raw: list[tuple[str, bytes]] = field(default_factory=list)
    """The paths and the bodies of the requests."""
    changed: threading.Condition = field(default_factory=threading.Condition)

    def take(self, path: str, body: bytes) -> None:
        with self.changed:
            self.raw.append((path, body))
            self.changed.notify_all()

    def spans(self) -> dict[str, list[Any]]:
        """Return the spans so far by name, in the order of their starts."""
        found: dict[str, list[Any]] = {}
        requests = map(ExportTraceServiceRequest.FromString, self.bodies("/v1/traces"))
        made = [
            span
            for request in requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            if scope.scope.name == "quickapps"
            for span in scope.spans
        ]
        for span in sorted(made, key=lambda one: one.start_time_unix_nano):
            found.setdefault(span.name, []).append(span)
        return found

    def bodies(self, path: str) -> list[bytes]:
        return [body for found, body in self.raw if found == path]

    def metrics(self) -> dict[str, Any]:
        """Return the newest value of each name."""
        requests = map(ExportMetricsServiceRequest.FromString, self.bodies("/v1/metrics"))
        return {
            metric.name: metric
            for request in requests
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            if scope.scope.name == "quickapps"
            for metric in scope.metrics
        }

    def wait_for(self, name: str, times: int = 1) -> dict[str, list[Any]]:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.spans().get(name, ())) >= times, SECONDS)
            return self.spans()

    def wait_for_metrics(self, names: set[str]) -> dict[str, Any]:
        with self.changed:
            assert self.changed.wait_for(lambda: self.metrics().keys() >= names, SECONDS)
            return self.metrics()


@contextmanager
def serve_collector() -> Iterator[Collector]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            collector.take(self.path, self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

    with serving(Handler) as collector.url:
        yield collector


def attributes(span: Any) -> dict[str, Any]:
    return {
        one.key: one.value.string_value or one.value.int_value
        for one in span.attributes
        if one.key != "gen_ai.tool.call.id"
    }


@proves("T-62")
@pytest.mark.slow("starts a site in a process of its own")
async def test_a_request_leaves_spans_that_core_can_join(tmp_path: Path):
    with (
        serve_collector() as collector,
        serve_core() as core,
        serve(
            tmp_path,
            DIAL_URL=core.url,
            OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
            OTEL_BSP_SCHEDULE_DELAY="50",
            OTEL_METRIC_EXPORT_INTERVAL="200",
        ) as site,
    ):
        address = f"{site.url}/openai/deployments/quick_apps2/chat/completions"
        core.add_schema(TYPE, address, MANIFEST)
        core.add_application("kept", None, MANIFEST, TYPE)
        core.add_model(
            "gpt",
            [
                [{"tool_calls": [{"name": CLOCK, "arguments": "{}"}]}, SPENT],
                [{"text": "Marked answer."}, SPENT],
                [{"error": {"status": 400, "message": "Marked failure."}}],
            ],
        )

        question = {"messages": [{"role": "user", "content": "Marked question."}]}
        reply = await core.call_application("kept", question)
        spans = collector.wait_for(ROUTE)
        await core.call_application("kept", question)
        failed = collector.wait_for(ROUTE, 2)
        measured = collector.wait_for_metrics({"quickapps_model_calls", "quickapps_page_runs"})

    assert reply.status == 200
    [door], [agent], [tool] = (
        spans[ROUTE],
        spans["invoke_agent kept"],
        spans[f"execute_tool {CLOCK}"],
    )
    models = spans["chat gpt"]
    sent = core.sent[0].headers["traceparent"].split("-")
    assert (door.trace_id.hex(), door.parent_span_id.hex()) == (sent[1], sent[2])
    assert agent.parent_span_id == door.span_id
    assert [span.parent_span_id for span in (*models, tool)] == [agent.span_id] * 3
    asked = [hop for hop in core.requests if hop.path.endswith("/deployments/gpt/chat/completions")]
    assert [hop.headers["traceparent"] for hop in asked[:2]] == [
        f"00-{sent[1]}-{span.span_id.hex()}-01" for span in models
    ]
    assert [attributes(span) for span in (door, agent, models[0], tool)] == [
        {
            "http.request.method": "POST",
            "http.route": "/openai/deployments/{slug}/chat/completions",
        },
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "kept",
            "gen_ai.usage.input_tokens": 14,
            "gen_ai.usage.output_tokens": 10,
        },
        {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt"},
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": CLOCK,
            "gen_ai.tool.type": "function",
        },
    ]
    assert [
        (failed[name][-1].status.code, attributes(failed[name][-1])["error.type"])
        for name in ("chat gpt", "invoke_agent kept")
    ] == [(FAILED, "ModelFailed"), (FAILED, "ModelFailed")]
    assert {
        (one.key, one.value.string_value)
        for point in measured["quickapps_model_calls"].sum.data_points
        for one in point.attributes
        if one.key != "outcome"
    } == {("provider", "dial"), ("model", "gpt")}
    assert not any(b"Marked" in body for _, body in collector.raw)


ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
SWITCHES: list[tuple[dict[str, str], bool, bool]] = [
    # The environment, and whether there are spans and metrics.
    ({}, False, False),
    (ENDPOINT, True, True),
    ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9/v1/traces"}, True, False),
    ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://127.0.0.1:9/v1/metrics"}, False, True),
    ({**ENDPOINT, "OTEL_SDK_DISABLED": "true"}, False, False),
    ({**ENDPOINT, "OTEL_TRACES_EXPORTER": "none"}, False, True),
    ({**ENDPOINT, "OTEL_METRICS_EXPORTER": "none"}, True, False),
]
SWITCHED_ON = """
import json, os, sys
from apps import metrics
from apps.tracing import span
from quickapps_site.observability.opentelemetry_metrics import set_up_opentelemetry_metrics
from quickapps_site.observability.tracing import set_up_tracing
for environment in json.loads(sys.argv[1]):
    if not os.fork():
        os.environ.update(environment)
        set_up_tracing()
        set_up_opentelemetry_metrics(())
        with span("run", {}) as made:
            print(json.dumps([made.is_recording(), metrics.is_on()]), flush=True)
        os._exit(0)  # without a farewell, which would try to send
    os.wait()
"""


def test_the_variables_of_opentelemetry_switch_spans_and_metrics_on():
    environments = json.dumps([environment for environment, *_ in SWITCHES])

    done = subprocess.run(
        [sys.executable, "-c", SWITCHED_ON, environments],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found == [[spans, metrics] for _, spans, metrics in SWITCHES]
