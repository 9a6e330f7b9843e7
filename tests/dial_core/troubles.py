"""Simulated problems of Core for requests of a deployment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal

from starlette.responses import PlainTextResponse, Response, StreamingResponse

from tests.dial_core.exchange import Exchange
from tests.dial_core.faults import Dropped
from tests.dial_core.forwarding import while_there

DRIP_SECONDS = 0.05


@dataclass(slots=True)
class Trouble:
    """A problem for requests with the per-request keys of one deployment whose path begins with
    `path`. `silent`: no response; `gone`: the connection is dropped; `flapping`: every second
    request returns 503, the first one too; `garbage`: invalid JSON; `dripping`: endless single
    bytes."""

    kind: Literal["silent", "gone", "flapping", "garbage", "dripping"]
    path: str = "/"
    count: int = 0

    async def answer(self, exchange: Exchange) -> Response | None:
        """Return None if the request is answered as usual. Raises `Dropped`, `Left`."""
        if not exchange.request.scope["raw_path"].decode().startswith(self.path):
            return None
        self.count += 1
        match self.kind:
            case "silent":
                await while_there(exchange.request, asyncio.Event().wait())
            case "gone":
                raise Dropped
            case "flapping":
                return PlainTextResponse("Try again", 503) if self.count % 2 else None
            case "garbage":
                return Response(b"\x00<html>Hello", media_type="application/json")
            case "dripping":
                return StreamingResponse(drops(), media_type="application/json")
        return None


async def drops() -> AsyncIterator[bytes]:
    while True:
        yield b" "
        await asyncio.sleep(DRIP_SECONDS)
