"""Checks that a process can use the database, its migrations, the shared files and keys, and the
channel layer.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from apps.migration_history import upgrade_problem
from apps.process_state import on_reset
from apps.workspace.local import installation
from apps.workspace.local.files.file_threads import on_file_thread

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 3.0
DISPENSABLE = frozenset({"channel_layer"})
"""The checks whose failure does not make a process unready. An outage of these services affects all
processes, so the load balancer would otherwise remove all of them.
"""
CHECK_SECONDS = 10.0
"""The minimum interval in seconds between checks of the stored files, regardless of the number of
probes.
"""

_applied = False
_shared = False
_installation_check: tuple[float, asyncio.Future[str]] | None = None
_is_ending = False


def announce_end() -> None:
    """Mark the process as stopping, so that its readiness check fails."""
    global _is_ending
    _is_ending = True


class ServiceUnusable(Exception):
    """Raised if a service responds but cannot be used. The message explains what to do."""


async def troubles() -> dict[str, str]:
    """Return a sentence about each failed check, by the check's name."""
    if _is_ending:
        return {"process": "The server is stopping."}
    checks: dict[str, Callable[[], Awaitable[None]]] = {
        "database": database_sync_to_async(database_answers),
        "migrations": database_sync_to_async(migrations_are_applied),
        "channel_layer": channel_layer_delivers,
    }
    names = list(checks)
    outcomes = await asyncio.gather(*(trouble(name, checks[name]) for name in names))
    found = {name: text for name, text in zip(names, outcomes, strict=True) if text}
    can_look = not found.keys() & {"database", "migrations"}
    if can_look and (text := await trouble("installation", installation_is_shared)):
        found["installation"] = text
    return found


async def trouble(name: str, check: Callable[[], Awaitable[None]]) -> str:
    # Details such as addresses and accounts appear only in the log.
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await check()
    except ServiceUnusable as error:
        return str(error)
    except TimeoutError:
        return f"No response within {ANSWER_SECONDS:g} seconds."
    except Exception as error:
        logger.exception("Readiness: %s failed", name)
        return f"Failed with {type(error).__name__}; see the server's log."
    return ""


def database_answers() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()


def migrations_are_applied() -> None:
    global _applied  # Reading all migrations is slow, and applied ones stay applied.
    if _applied:
        return
    if problem := upgrade_problem(connection):
        raise ServiceUnusable(problem)
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        raise ServiceUnusable(f"{len(missing)} migrations are not applied; run manage.py migrate.")
    _applied = True


async def installation_is_shared() -> None:
    """Raise `ServiceUnusable` if the stored files or keys belong to another installation.

    A recent success is reused. Concurrent probes share one check, so that slow storage blocks only
    one thread.
    """
    global _installation_check
    if _installation_check is None or is_outdated(*_installation_check):
        _installation_check = (
            time.monotonic(),
            asyncio.ensure_future(on_file_thread(shared_problem)),
        )
    if problem := await asyncio.shield(_installation_check[1]):
        raise ServiceUnusable(problem)


def is_outdated(begun_at: float, check: asyncio.Future[str]) -> bool:
    is_bad = check.done() and (check.cancelled() or check.exception() is not None or check.result())
    return bool(is_bad) or (check.done() and time.monotonic() - begun_at > CHECK_SECONDS)


def shared_problem() -> str:
    global _shared  # Hashing is slow, and the keys do not change while the process runs.
    if _shared:
        return installation.files_problem()
    found = " ".join(installation.register_process())
    _shared = not found
    return found


@on_reset
def forget_installation() -> None:
    global _shared, _installation_check
    _shared, _installation_check = False, None


async def channel_layer_delivers() -> None:
    layer = get_channel_layer()
    if layer is None:
        raise ServiceUnusable(
            "There is no channel layer; configure CHANNEL_LAYERS in the settings."
        )
    channel = await layer.new_channel()
    await layer.send(channel, {"type": "readiness"})
    await layer.receive(channel)
