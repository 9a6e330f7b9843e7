"""Connections to files of SQLite that nobody uses at the moment."""

from __future__ import annotations

import atexit
import os
import sqlite3
from collections import defaultdict
from pathlib import Path
from typing import Any

MOST = 8
"""Idle connections of a process to one file. What comes back beyond them is closed."""

Identity = tuple[int, int]
"""Device and inode of a file."""


class KnownConnection(sqlite3.Connection):
    """Knows which file it has open, whatever has that file's name later."""

    def __init__(self, database: str | Path, *arguments: Any, **options: Any) -> None:
        super().__init__(database, *arguments, **options)
        self.name = database
        self.identity = identity_of(database)


class KeptConnections:
    """The idle connections to each file; the one that was used last is taken first."""

    def __init__(self) -> None:
        self.idle = defaultdict[str | Path, list[KnownConnection]](list)
        self.inherited: list[object] = []
        atexit.register(self.close)
        os.register_at_fork(after_in_child=self.set_aside)

    def take(self, name: str | Path) -> KnownConnection | None:
        """An idle connection to the file that has this name now; those to others are closed."""
        idle = self.idle[name]
        identity = identity_of(name) if idle else None
        while True:
            try:
                connection = idle.pop()
            except IndexError:
                return None
            if connection.identity == identity:
                return connection
            connection.close()

    def give_back(self, connection: KnownConnection) -> bool:
        """Keep the connection; False if it is to be closed instead."""
        idle = self.idle[connection.name]
        if connection.identity is None or len(idle) >= MOST:
            return False
        idle.append(connection)
        return True

    def set_aside(self) -> None:
        """Neither use nor close what belongs to the process that this one is a fork of."""
        self.inherited.append(self.idle)
        self.idle = defaultdict(list)

    def close(self) -> None:
        """Close what is idle: with its last connection, SQLite puts its log into the file."""
        for idle in self.idle.values():
            while idle:
                idle.pop().close()


def identity_of(name: str | Path) -> Identity | None:
    try:
        found = os.stat(name)  # noqa: PTH116 - in each look, and `Path` takes five times as long
    except OSError:  # in memory, or an address with options
        return None
    return (found.st_dev, found.st_ino)
