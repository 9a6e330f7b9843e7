"""Shuts a process down: interrupts its runs, so that other processes resume them, and disconnects
viewers.
"""

import asyncio
import logging
import time

from apps.live.hub import Hub

logger = logging.getLogger(__name__)

CLEAN_UP_SECONDS = 4.0
"""Interrupted runs have this many seconds to clean up and to be stored."""
FAREWELL_SECONDS = 2.0
"""Viewers have this many seconds to receive the remaining events."""


async def close_hub(hub: Hub, seconds: float) -> None:
    """Stop accepting new requests, hand over all runs, and disconnect viewers.

    Runs have `seconds` to end or to finish their tool calls. Then they are interrupted, and other
    processes resume them.
    """
    hub.is_closing = True
    hub.awaited.set()
    await finish(hub, seconds)
    if hub.supervisors:
        logger.warning("Interrupting %d answers: the server is shutting down", len(hub.supervisors))
    await finish(hub, CLEAN_UP_SECONDS, interrupting=True)
    hub.is_closed = True
    hub.streams.wake_all()
    end = time.monotonic() + FAREWELL_SECONDS
    while hub.streams.viewers and (left := end - time.monotonic()) > 0:
        await hub.streams.wait_for_viewers(left)


async def finish(hub: Hub, seconds: float, *, interrupting: bool = False) -> None:
    """Wait up to `seconds` for the runs to end. No run begins another model call. With
    `interrupting`, calls in progress are interrupted too.
    """
    end = time.monotonic() + seconds
    while hub.tasks and (left := end - time.monotonic()) > 0:
        for supervisor in list(hub.supervisors.values()):
            if interrupting:
                supervisor.hand_over(left / 2)
            else:
                # Repeat this in each round, because a new task can begin in the meantime.
                supervisor.stop_before_next_call()
        await asyncio.wait(hub.tasks, timeout=left, return_when=asyncio.FIRST_COMPLETED)
