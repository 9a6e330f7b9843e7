"""The end of the process, under every server that speaks ASGI's `lifespan` (Daphne does not)."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

logger = logging.getLogger(__name__)

GRACE_SECONDS = 3.0
CLEAN_UP_SECONDS = 4.0


async def lifespan(scope: Any, receive: Any, send: Any) -> None:
    """The ASGI application for the scope `lifespan`."""
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    try:
        await end_answers(GRACE_SECONDS)
        async with asyncio.timeout(CLEAN_UP_SECONDS):
            await close_connections()
    except Exception:
        logger.exception("The end of the process was not a clean one")
    await send({"type": "lifespan.shutdown.complete"})


async def end_answers(seconds: float) -> None:
    """End the chat's answers, which outlive their connections. Costs nothing the second time."""
    from apps.live.hub import HUB
    from apps.live.shutdown import close

    await close(HUB, seconds)


async def close_connections() -> None:
    """Say goodbye to MCP servers and end the programs among them; close what is pooled."""
    from apps.workspace.egress import per_loop

    await per_loop.close()
