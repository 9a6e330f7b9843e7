"""Arrays of vectors with spare rows. Adding a vector to 10,000 then does not copy 15 MB, which took
half the time of a store.

An array that was returned never changes. The first caller that adds to an array writes into the
spare rows behind it. Another caller that adds to the same array, after a change that was not
stored, gets a copy.
"""

from threading import Lock
from typing import Any
from weakref import ref

import numpy as np

from apps.workspace.memories.port import Vectors

LEAST_ROOM = 64
SHARE = 8
"""The number of spare rows is the number of used ones divided by this, or `LEAST_ROOM` if that is
more.
"""


class Room:
    """Rows of which the first ones are in use. They live as long as an array that shows some of
    them.
    """

    def __init__(self, rows: "RowsInRoom", filled: int) -> None:
        self.rows, self.filled, self.lock = ref(rows), filled, Lock()

    def claimed(self, start: int, stop: int) -> "RowsInRoom | None":
        """Return all rows; None if some of these do not exist, or were claimed before."""
        rows = self.rows()
        with self.lock:
            if rows is None or self.filled != start or stop > len(rows):
                return None
            self.filled = stop
            return rows


class RowsInRoom(np.ndarray[Any, np.dtype[np.float32]]):
    """Rows that refer to their `Room`. Other code sees only plain arrays, whose base this is."""

    room: Room


def append_rows(vectors: Vectors, more: Vectors) -> Vectors:
    """Return the rows of both, which have the same length."""
    count = len(vectors) + len(more)
    room = vectors.base.room if isinstance(vectors.base, RowsInRoom) else None
    rows = room.claimed(len(vectors), count) if room is not None else None
    if room is None or rows is None:
        space = count + max(LEAST_ROOM, count // SHARE)
        # NumPy keeps a base only if it has a class of its own.
        rows = np.empty((space, vectors.shape[1]), np.float32).view(RowsInRoom)
        rows[: len(vectors)] = vectors
        room = Room(rows, count)
    rows[len(vectors) : count] = more
    housed = rows[:count].view(RowsInRoom)
    housed.room = room
    return housed.view(np.ndarray)
