"""Limits the connections of requests to Django's views, so that they leave connections for the
database threads.

Each of these requests has its own thread, and there is no limit to their number. Without a share,
pages that wait for a lock would hold the whole pool, and the doors would wait for a connection.
"""

import threading

from asgiref.sync import SyncToAsync
from psycopg_pool import PoolTimeout


class PageShare:
    """The connections of a pool that requests to Django's views can hold at the same time."""

    def __init__(self, pool_size: int, threads: int) -> None:
        self.count = max(1, pool_size - threads)
        self.free = threading.BoundedSemaphore(self.count)

    def take(self, seconds: float) -> bool:
        """Reserve a connection. Return False if the work is not part of such a request, and needs
        none. Raises `PoolTimeout` if all connections of the share are in use for this long.
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
    """Return True on a thread of a request to a view: only these have a context of their own."""
    return SyncToAsync.thread_sensitive_context.get(None) is not None
