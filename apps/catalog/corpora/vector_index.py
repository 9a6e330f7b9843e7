"""Creates an approximate index of vectors in a daemon thread, which does not delay the shutdown of
the process.
"""

import asyncio
from contextlib import suppress
from threading import Thread

from django.db import connection

from apps.workspace.local.corpora.hnsw import make_index


async def make_in_thread(dimension: int, rows: int) -> None:
    """Create an approximate index for vectors with this many dimensions. This takes minutes. Raises
    the database's errors.

    The thread continues even if this call is canceled. If PostgreSQL does not finish the index, the
    next attempt deletes the incomplete index.
    """
    loop = asyncio.get_running_loop()
    made: asyncio.Future[None] = loop.create_future()

    def settle(problem: Exception | None) -> None:
        if made.done():
            return
        if problem is None:
            made.set_result(None)
        else:
            made.set_exception(problem)

    def work() -> None:
        problem = None
        try:
            make_index(dimension, rows)
        except Exception as error:  # noqa: BLE001 - every error is returned to the caller
            problem = error
        finally:
            connection.close()
        with suppress(RuntimeError):  # The event loop has already ended.
            loop.call_soon_threadsafe(settle, problem)

    Thread(target=work, name="vector-index", daemon=True).start()
    await made
