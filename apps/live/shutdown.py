"""The orderly end of a process: runs are ended and stored, and their viewers are told."""

import asyncio
import logging
import time

from apps.live.hub import Hub

logger = logging.getLogger(__name__)

CLEAN_UP_SECONDS = 4.0
"""For interrupted runs to release their tools and to store their endings."""
FAREWELL_SECONDS = 2.0
"""For viewers to get the events that they have not seen yet."""


async def close(hub: Hub, seconds: float) -> None:
    """Take no more questions, end every run and let its viewers go.

    Runs get `seconds` to end by themselves. The rest are interrupted and their partial answers
    stored, so that another process can go on with the conversation at once.
    """
    hub.is_closing = True
    await finish(hub, seconds)
    if hub.supervisors:
        logger.warning("%d answers are interrupted because the server stops", len(hub.supervisors))
    await finish(hub, CLEAN_UP_SECONDS, interrupting=True)
    hub.is_closed = True
    hub.wake_all()
    end = time.monotonic() + FAREWELL_SECONDS
    while hub.viewers and (left := end - time.monotonic()) > 0:
        await hub.wait_for_viewers(left)


async def finish(hub: Hub, seconds: float, *, interrupting: bool = False) -> None:
    """Return when no task is left, or when the time is over."""
    end = time.monotonic() + seconds
    while hub.tasks and (left := end - time.monotonic()) > 0:
        if interrupting:
            for supervisor in list(hub.supervisors.values()):
                supervisor.interrupt(left / 2)
        await asyncio.wait(hub.tasks, timeout=left, return_when=asyncio.FIRST_COMPLETED)
