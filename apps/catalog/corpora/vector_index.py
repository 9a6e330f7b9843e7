"""The index of very many vectors, made in a thread that the end of the process does not wait for."""

import asyncio
from contextlib import suppress
from threading import Thread

from django.db import connection

from apps.workspace.local.corpus_hnsw import make_index


async def make_in_thread(dimension: int, rows: int) -> None:
    """Wait until it is made, which takes minutes. Raises what the database raises.

    Cancelled, it leaves the thread to itself: PostgreSQL finishes the index, or its rest is deleted by
    the next attempt.
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
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller is told
            problem = error
        finally:
            connection.close()
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, problem)

    Thread(target=work, name="vector-index", daemon=True).start()
    await made
