"""Provides database connections that use almost no CPU while a worker is idle."""

import selectors
from typing import Any, TypeVar

from procrastinate import PsycopgConnector
from procrastinate.contrib.django.utils import connector_params
from psycopg import AsyncConnection
from psycopg.abc import PQGen
from psycopg_pool import AsyncConnectionPool

WAIT_SECONDS = 60.0

T = TypeVar("T")


class QuietConnection(AsyncConnection[Any]):
    """A connection that wakes up only for messages from the server.

    psycopg's own connection wakes up ten times a second to notice Ctrl-C, which asyncio handles.
    """

    async def wait(
        self,
        gen: PQGen[T],
        interval: float = WAIT_SECONDS,
        timeout: float | None = None,  # noqa: ASYNC109 - as psycopg has it
    ) -> T:
        return await super().wait(gen, interval, timeout)


def make_connector() -> PsycopgConnector:
    return PsycopgConnector(kwargs=connector_params, pool_factory=make_pool, min_size=1, max_size=3)


def make_pool(**options: Any) -> AsyncConnectionPool[AsyncConnection[Any]]:
    quiet = {"check": check, "configure": configure, "connection_class": QuietConnection}
    return AsyncConnectionPool(**{**options, **quiet})


async def configure(connection: AsyncConnection[Any]) -> None:
    await connection.set_autocommit(True)


async def check(connection: AsyncConnection[Any]) -> None:
    """Raise `psycopg.Error` if the server has closed the connection."""
    if has_news(connection.fileno()):
        await AsyncConnectionPool.check_connection(connection)


def has_news(socket: int) -> bool:
    """Return True if the server has sent an unexpected message, such as the end of the connection."""
    with selectors.DefaultSelector() as incoming:
        incoming.register(socket, selectors.EVENT_READ)
        return bool(incoming.select(0))
