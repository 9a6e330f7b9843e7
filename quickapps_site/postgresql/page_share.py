"""Limits the database connections of requests to Django's views, so that other requests always get
one.

Each request to a view has its own thread, without a limit on their number. Otherwise, pages that
wait for a lock would use all connections, and API requests would wait for one.
"""

import threading

from asgiref.sync import SyncToAsync
from psycopg_pool import PoolTimeout


class PageShare:
    """The connections that requests to Django's views can use at a time: all of the pool, except
    one per database thread.
    """

    def __init__(self, pool_size: int, threads: int) -> None:
        self.count = max(1, pool_size - threads)
        self.free = threading.BoundedSemaphore(self.count)

    def acquire(self, seconds: float) -> bool:
        """Reserve a connection, and return True. Return False if the current thread does not serve
        a view, so that it needs no reservation.

        Raises `PoolTimeout` if all of them are in use for `seconds`.
        """
        if not is_page_request():
            return False
        if not self.free.acquire(timeout=seconds):
            raise PoolTimeout(
                f"the {self.count} connections of pages were in use for {seconds:g} sec"
            )
        return True

    def release(self) -> None:
        self.free.release()


def is_page_request() -> bool:
    """Return True if the current thread serves a view. Only these threads have their own context in
    asgiref.
    """
    return SyncToAsync.thread_sensitive_context.get(None) is not None
