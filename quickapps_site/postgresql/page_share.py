"""Limits the number of database connections that requests to Django's views use, so that other
requests always get one.

Each request to a view has its own thread, and the number of these threads is not limited. Without
this limit, pages that wait for a lock would use all connections of the pool, and API requests would
wait for a connection.
"""

import threading

from asgiref.sync import SyncToAsync
from psycopg_pool import PoolTimeout


class PageShare:
    """The connections of a pool that requests to Django's views can use at a time: all except one
    for each of the `threads`.
    """

    def __init__(self, pool_size: int, threads: int) -> None:
        self.count = max(1, pool_size - threads)
        self.free = threading.BoundedSemaphore(self.count)

    def take(self, seconds: float) -> bool:
        """Reserve one of these connections, and return True. Return False if the current thread
        does not serve a view, and needs no reservation.

        Raises `PoolTimeout` if all of them are in use for `seconds`.
        """
        if not is_page_request():
            return False
        if not self.free.acquire(timeout=seconds):
            raise PoolTimeout(
                f"the {self.count} connections of pages were in use for {seconds:g} sec"
            )
        return True

    def give_back(self) -> None:
        self.free.release()


def is_page_request() -> bool:
    """Return True if the current thread serves a request to a view. Only such threads have a
    context of their own in asgiref.
    """
    return SyncToAsync.thread_sensitive_context.get(None) is not None
