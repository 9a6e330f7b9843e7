"""Limits the number of connections that requests to Django's views use, so that the database
threads of other requests always have some.

Each request to a view has its own thread, and their number is not limited. Without this limit,
pages that wait for a lock would hold all connections of the pool, and the doors would wait for a
connection.
"""

import threading

from asgiref.sync import SyncToAsync
from psycopg_pool import PoolTimeout


class PageShare:
    """The part of a pool's connections that requests to Django's views can use at a time: those
    that the `threads` do not need.
    """

    def __init__(self, pool_size: int, threads: int) -> None:
        self.count = max(1, pool_size - threads)
        self.free = threading.BoundedSemaphore(self.count)

    def take(self, seconds: float) -> bool:
        """Reserve a connection of the share, and return True. Return False if the current thread
        does not serve a view, and needs no reservation.

        Raises `PoolTimeout` if all connections of the share are in use for `seconds`.
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
