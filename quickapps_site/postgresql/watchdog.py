"""Statements that wait for a database that answers nothing are given up.

A server that hangs keeps its connections open, so whoever waits for one would wait for ever. A
statement that only takes long is left alone: as long as the database takes new connections, it is
at work.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import suppress
from typing import Any

import psycopg

from quickapps_site.postgresql.reachability import Reachability

SUSPICIOUS_SECONDS = 0.4
"""Few statements take so long, so a probe is rare."""
LOOK_SECONDS = 0.2

_waiting: dict[psycopg.Connection[Any], float] = {}


class WatchedConnection(psycopg.Connection[Any]):
    """Tells the watchdog since when it waits for its server."""

    def wait(self, *arguments: Any, **options: Any) -> Any:
        _waiting[self] = time.monotonic()
        try:
            return super().wait(*arguments, **options)
        finally:
            _waiting.pop(self, None)


def start(reachability: Reachability) -> None:
    """Watch for as long as the process lives."""
    threading.Thread(target=watch, args=(reachability,), name="database", daemon=True).start()


def watch(reachability: Reachability) -> None:
    while True:
        time.sleep(LOOK_SECONDS)
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
    """End the connection under the thread that waits for it, which is told that it is broken."""
    with suppress(psycopg.Error, OSError), socket.socket(fileno=os.dup(connection.fileno())) as end:
        end.shutdown(socket.SHUT_RDWR)
