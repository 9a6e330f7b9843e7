"""Starts and stops the background work of a process, on servers with ASGI's `lifespan` (not
Daphne).
"""

import asyncio
import logging
from typing import Any

from django.conf import settings

from apps import process_state
from apps.catalog.checks import processes_can_notify
from apps.doors.run_consumer import OPEN_ANSWERS
from apps.live.hub import HUB
from apps.live.process.shutdown import close_hub
from apps.tasks.running import GRACE_SECONDS
from quickapps_site.server.background import Background, ProcessRole

logger = logging.getLogger(__name__)

CLEAN_UP_SECONDS = 4.0
JOBS_SECONDS = GRACE_SECONDS + 2.0
"""The time in seconds for background jobs to end or to return to the queue.

The database connections are closed afterwards. A job that is still running then would wait 30
seconds for one, because asyncio cancels the pool's tasks at the end of the shutdown.
"""


async def lifespan(scope: Any, receive: Any, send: Any) -> None:
    """Start and stop the background work on the server's `lifespan` events."""
    await receive()
    warn_of_deaf_processes()
    background = Background(ProcessRole(settings.ROLE))
    await send({"type": "lifespan.startup.complete"})
    await receive()
    for job in background.jobs:
        job.cancel()
    try:
        await end_answers(settings.SHUTDOWN_GRACE_SECONDS)
        if background.jobs:
            await asyncio.wait(background.jobs, timeout=JOBS_SECONDS)
        async with asyncio.timeout(CLEAN_UP_SECONDS):
            # Gateway runs have ended with their connections.
            await HUB.budgets.close()
            await HUB.summaries.close()
            await process_state.close_loop_objects()
    except Exception:
        logger.exception("The process did not end cleanly")
    for watcher in background.watchers:
        watcher.cancel()
    await send({"type": "lifespan.shutdown.complete"})


def warn_of_deaf_processes() -> None:
    """Log a warning if the installation's processes cannot notify each other. Servers do not run
    Django's checks.
    """
    for warning in processes_can_notify():
        logger.warning("%s %s", warning.msg, warning.hint)


async def end_answers(seconds: float) -> None:
    """Release the chat page's answers, so that other processes resume them, and end the answers
    from other APIs after `seconds`.

    A second call does nothing.
    """
    await asyncio.gather(close_hub(HUB, seconds), OPEN_ANSWERS.end(seconds))
