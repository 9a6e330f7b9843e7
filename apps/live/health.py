"""Readiness: whether the database, its migrations and the channel layer are as they should be."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from apps.migration_history import upgrade_problem

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 3.0

_applied = False


class Unready(Exception):
    """A service answers, but cannot be used; the text says what to do."""


async def troubles() -> dict[str, str]:
    """Name of the failed check → one sentence; empty when all is well."""
    checks: dict[str, Callable[[], Awaitable[None]]] = {
        "database": database_sync_to_async(database_answers),
        "migrations": database_sync_to_async(migrations_are_applied),
        "channel_layer": channel_layer_delivers,
    }
    names = list(checks)
    outcomes = await asyncio.gather(*(trouble(name, checks[name]) for name in names))
    return {name: text for name, text in zip(names, outcomes, strict=True) if text}


async def trouble(name: str, check: Callable[[], Awaitable[None]]) -> str:
    # Details such as addresses and accounts are for the log alone.
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await check()
    except Unready as error:
        return str(error)
    except TimeoutError:
        return f"No answer within {ANSWER_SECONDS:g} seconds."
    except Exception as error:
        logger.exception("Readiness: %s failed", name)
        return f"Failed with {type(error).__name__}; see the server's log."
    return ""


def database_answers() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()


def migrations_are_applied() -> None:
    global _applied  # reading all migrations takes long, and applied ones stay applied
    if _applied:
        return
    if problem := upgrade_problem(connection):
        raise Unready(problem)
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        raise Unready(f"{len(missing)} migrations are not applied; run manage.py migrate.")
    _applied = True


async def channel_layer_delivers() -> None:
    layer = get_channel_layer()
    if layer is None:
        raise Unready("There is no channel layer; see CHANNEL_LAYERS in the settings.")
    channel = await layer.new_channel()
    await layer.send(channel, {"type": "readiness"})
    await layer.receive(channel)
