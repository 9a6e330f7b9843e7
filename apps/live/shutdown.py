"""The end of a process: answers are ended properly, and viewers told, instead of left behind."""

from __future__ import annotations

import asyncio
import logging
import time

from apps.live.hub import Hub

logger = logging.getLogger(__name__)

CLEAN_UP_SECONDS = 4.0
"""For ending what was interrupted: its tools let go, its ending is stored."""
FAREWELL_SECONDS = 2.0
"""For the viewers to be handed what they have not seen yet."""


async def close(hub: Hub, seconds: float) -> None:
    """Take no more questions, end every run and let its viewers go.

    Runs may go on for so many `seconds`; those that do not end by themselves are interrupted:
    what there is of their answers is stored, so that any process may go on at once.
    """
    hub.is_closing = True
    await finish(hub, seconds)
    if hub.working:
        logger.warning("%d answers are interrupted because the server stops", len(hub.working))
    await finish(hub, CLEAN_UP_SECONDS, interrupting=True)
    hub.is_closed = True
    hub.wake_all()
    end = time.monotonic() + FAREWELL_SECONDS
    while hub.viewers and (left := end - time.monotonic()) > 0:
        await hub.wait_for_viewers(left)


async def finish(hub: Hub, seconds: float, *, interrupting: bool = False) -> None:
    """Wait until the process does nothing any more, or the time is over."""
    end = time.monotonic() + seconds
    while hub.tasks and (left := end - time.monotonic()) > 0:
        if interrupting:
            for working in list(hub.working.values()):
                working.interrupt(left / 2)
        await asyncio.wait(hub.tasks, timeout=left, return_when=asyncio.FIRST_COMPLETED)
