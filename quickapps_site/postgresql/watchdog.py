"""Ends statements that are waiting for a database that no longer responds.

A server that hangs keeps its connections open, so callers would wait forever. Slow statements
continue while the database accepts new connections.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import suppress
from typing import Any

import psycopg

from quickapps_site.postgresql import clients
from quickapps_site.postgresql.reachability import Reachability

SUSPICIOUS_SECONDS = 0.4
"""The database is checked if a statement takes more than this many seconds. Few statements take
that long.
"""
CHECK_SECONDS = 0.2

_waiting: dict[psycopg.Connection[Any], float] = {}


class WatchedConnection(psycopg.Connection[Any]):
    """A connection that reports to the watchdog when it is waiting for the server, and records the
    time of the last response.
    """

    answered_at = float("-inf")

    def wait(self, *arguments: Any, **options: Any) -> Any:
        client = clients.current.get()
        if client is clients.NOBODY:
            return self.wait_watched(*arguments, **options)
        with client.wait(self):
            return self.wait_watched(*arguments, **options)

    def wait_watched(self, *arguments: Any, **options: Any) -> Any:
        _waiting[self] = time.monotonic()
        try:
            answer = super().wait(*arguments, **options)
        finally:
            _waiting.pop(self, None)
        self.answered_at = time.monotonic()
        return answer


def start(reachability: Reachability) -> None:
    """Start the thread that watches all of the process's connections."""
    threading.Thread(target=watch, args=(reachability,), name="database", daemon=True).start()


def watch(reachability: Reachability) -> None:
    while True:
        time.sleep(CHECK_SECONDS)
        limit = time.monotonic() - SUSPICIOUS_SECONDS
        suspects = [one for one, since in list(_waiting.items()) if since < limit]
        if not suspects:
            continue
        try:
            reachability.probe()
        except psycopg.OperationalError:
            for connection in suspects:
                hang_up(connection)


def hang_up(connection: psycopg.Connection[Any]) -> None:
    """Shut down a connection's socket, so that the thread that is waiting for it gets an error."""
    with suppress(psycopg.Error, OSError), socket.socket(fileno=os.dup(connection.fileno())) as end:
        end.shutdown(socket.SHUT_RDWR)
