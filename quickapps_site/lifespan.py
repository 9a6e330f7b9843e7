"""The begin and end of the process, under servers that speak ASGI's `lifespan` (Daphne does not)."""

import asyncio
import logging
from functools import partial
from typing import Any

from apps import metrics
from quickapps_site.http_metrics import measure_lag

logger = logging.getLogger(__name__)

GRACE_SECONDS = 3.0
CLEAN_UP_SECONDS = 4.0
RELEASE_SECONDS = 1.0
"""To let go of the attached files that this process works on; else others wait for a minute."""


async def lifespan(scope: Any, receive: Any, send: Any) -> None:
    """The ASGI application for the scope `lifespan`."""
    await receive()
    warn_of_deaf_processes()
    sweeping = asyncio.create_task(go_on_with_answers())
    indexing = asyncio.create_task(index_attached_files())
    sending = asyncio.create_task(send_what_is_due())
    firing = asyncio.create_task(fire_schedules())
    measuring = asyncio.create_task(measure_lag()) if metrics.is_on() else None
    await send({"type": "lifespan.startup.complete"})
    await receive()
    indexing.cancel()
    sending.cancel()
    firing.cancel()
    if measuring is not None:
        measuring.cancel()
    try:
        await end_answers(GRACE_SECONDS)
        async with asyncio.timeout(CLEAN_UP_SECONDS):
            await asyncio.wait((indexing,), timeout=RELEASE_SECONDS)
            await write_summaries()
            await close_outbox()
            await close_connections()
    except Exception:
        logger.exception("The end of the process was not a clean one")
    sweeping.cancel()
    await send({"type": "lifespan.shutdown.complete"})


def warn_of_deaf_processes() -> None:
    """Servers run none of Django's checks by themselves."""
    from apps.catalog.checks import processes_hear_each_other

    for warning in processes_hear_each_other():
        logger.warning("%s %s", warning.msg, warning.hint)


async def go_on_with_answers() -> None:
    """Go on with the chat's answers that no process works on, until this one ends."""
    from apps.chat.continuation import sweeper
    from apps.live.hub import HUB

    await sweeper(HUB).keep_sweeping()


async def fire_schedules() -> None:
    """Ask what schedules ask at their times, until this process is about to end."""
    from apps.live.hub import HUB
    from apps.triggers.clock import keep_firing

    await keep_firing(HUB)


async def index_attached_files() -> None:
    """Make what is attached to applications ready to be searched, until this process ends."""
    from apps.catalog.corpora.indexer import Indexer
    from apps.insights.meter import server_meter
    from apps.live.hub import HUB

    await Indexer(meter_of=partial(server_meter, HUB.summaries.keep)).keep_indexing()


async def send_what_is_due() -> None:
    """Tell subscribers and people of answers, until this process ends."""
    from apps.triggers.outbox import OUTBOX

    await OUTBOX.keep_sending()


async def close_outbox() -> None:
    from apps.triggers.outbox import OUTBOX

    await OUTBOX.close()


async def end_answers(seconds: float) -> None:
    """Hand over the chat's answers, which outlive their connections. The second time it is free."""
    from apps.live.hub import HUB
    from apps.live.shutdown import close

    await close(HUB, seconds)


async def write_summaries() -> None:
    """Write the rows of the gateway's runs, which have ended with their connections, and of calls, and count
    the calls in budgets."""
    from apps.live.hub import HUB

    await HUB.budgets.close()
    await HUB.summaries.close()


async def close_connections() -> None:
    """Say goodbye to MCP servers and end the programs among them; close what is pooled."""
    from apps.workspace.egress import per_loop

    await per_loop.close()
