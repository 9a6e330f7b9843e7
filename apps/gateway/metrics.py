"""`GET /metrics`: what this process has counted and measured, for Prometheus."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from channels.db import database_sync_to_async
from django.conf import settings

from apps import metrics
from apps.accounts.authentication import is_local
from apps.accounts.sender_headers import read_headers
from apps.gateway.base import error_body
from apps.gateway.consumers import NotFoundConsumer
from apps.live.gauges import GAUGES
from apps.runs.failures import fault

if TYPE_CHECKING:  # its package takes a tenth of a second to import, and few need it
    from apps.gateway.prometheus import PrometheusSink

UNKNOWN = "Send the value of METRICS_TOKEN as a bearer token."
NOT_LOCAL = (
    "Without METRICS_TOKEN, metrics are for programs on this machine that ask without a proxy."
)

_sink: PrometheusSink | None = None


def start() -> PrometheusSink:
    """Count and measure from now on. Returns the sink of the process."""
    from apps.gateway.prometheus import PrometheusSink

    global _sink
    if _sink is None:
        _sink = PrometheusSink()
        metrics.connect(_sink, GAUGES)
    return _sink


class MetricsConsumer(NotFoundConsumer):
    """Like an address that there is not, where metrics are off."""

    async def handle(self) -> None:
        if _sink is None:
            await super().handle()
        elif self.scope["method"] not in self.methods:
            await self.refuse_method()
        elif refusal := self.refusal():
            self.note_denial()
            await self.send_json(403, error_body(fault(403, refusal, "forbidden"), 403))
        else:
            await self.send_metrics(_sink)

    def refusal(self) -> str:
        """Why the metrics are not for the sender, "" if they are."""
        sent = read_headers(self.scope["headers"])
        if token := settings.METRICS_TOKEN:
            is_known = hmac.compare_digest(sent.bearer.encode(), token.encode())
            return "" if is_known else UNKNOWN
        return "" if is_local(self.scope.get("client"), sent) else NOT_LOCAL

    async def send_metrics(self, sink: PrometheusSink) -> None:
        from apps.gateway.prometheus import CONTENT_TYPE

        text: bytes = await database_sync_to_async(sink.text)()
        headers = ((b"content-type", CONTENT_TYPE), (b"cache-control", b"no-store"))
        await self.respond(200, text, headers)
