"""The code interpreter, which this Core does not have."""

from __future__ import annotations

from starlette.responses import Response

from tests.dial_core.exchange import Exchange
from tests.dial_core.refusals import Refusal


async def refuse(exchange: Exchange, operation: str) -> Response:
    _ = exchange.caller
    raise Refusal(503, f"Code interpreter is not available: {operation}")
