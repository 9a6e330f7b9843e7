"""Serves `GET /metrics`, which returns this process's metrics for Prometheus."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from typing import TYPE_CHECKING

from channels.db import database_sync_to_async

from apps import metrics
from apps.accounts.authentication import read_headers
from apps.environment_variables import current_setting
from apps.gateway.consumers import NotFoundConsumer
from apps.metrics import Gauge
from apps.runs.failures import fault

if TYPE_CHECKING:  # Importing the package takes a tenth of a second, and few processes need it.
    from apps.gateway.prometheus import PrometheusSink

UNKNOWN = "Send the value of METRICS_TOKEN as a bearer token."

_sink: PrometheusSink | None = None


def start(gauges: Iterable[Gauge]) -> PrometheusSink:
    """Start collecting metrics. Return the sink that stores this process's metrics."""
    from apps.gateway.prometheus import PrometheusSink

    global _sink
    if _sink is None:
        _sink = PrometheusSink()
        metrics.connect(_sink, gauges)
    return _sink


class MetricsConsumer(NotFoundConsumer):
    """Serves the metrics in Prometheus's format or, if they are disabled, a 404."""

    async def handle(self) -> None:
        if _sink is None:
            await super().handle()
        elif self.scope["method"] not in self.methods:
            await self.refuse_method()
        elif not self.has_token():
            self.note_denial()
            await self.send_failure(fault(403, UNKNOWN, "forbidden"))
        else:
            await self.send_metrics(_sink)

    def has_token(self) -> bool:
        sent = read_headers(self.scope["headers"]).bearer.encode()
        token = current_setting("METRICS_TOKEN").encode()
        return bool(token) and hmac.compare_digest(sent, token)

    async def send_metrics(self, sink: PrometheusSink) -> None:
        from apps.gateway.prometheus import CONTENT_TYPE

        text: bytes = await database_sync_to_async(sink.text)()
        headers = ((b"content-type", CONTENT_TYPE), (b"cache-control", b"no-store"))
        await self.respond(200, text, headers)
