"""Vectors with room behind them: adding one to 10,000 does not copy 15 MB, which took half a store.

An array that was handed out never changes: a row of the room is written once, by the first who adds to
the array that ends there. Whoever adds to the same array again, after a change that was not stored,
gets a copy.
"""

from threading import Lock
from typing import Any
from weakref import ref

import numpy as np

from apps.workspace.memories.port import Vectors

LEAST_ROOM = 64
SHARE = 8
"""There is room for an eighth more than there is."""


class Room:
    """Rows of which the first ones are in use. They live as long as an array that shows some of them."""

    def __init__(self, rows: "Housed", filled: int) -> None:
        self.rows, self.filled, self.lock = ref(rows), filled, Lock()

    def claimed(self, start: int, stop: int) -> "Housed | None":
        """All rows; None if some of these are not there, or somebody has had them."""
        rows = self.rows()
        with self.lock:
            if rows is None or self.filled != start or stop > len(rows):
                return None
            self.filled = stop
            return rows


class Housed(np.ndarray[Any, np.dtype[np.float32]]):
    """Rows that know their room. Nobody sees them but as the base of a plain array."""

    room: Room


def appended(vectors: Vectors, more: Vectors) -> Vectors:
    """The rows of both, which have one length."""
    count = len(vectors) + len(more)
    room = vectors.base.room if isinstance(vectors.base, Housed) else None
    rows = room.claimed(len(vectors), count) if room is not None else None
    if room is None or rows is None:
        space = count + max(LEAST_ROOM, count // SHARE)
        # NumPy leaves a base out unless it is of a class of its own.
        rows = np.empty((space, vectors.shape[1]), np.float32).view(Housed)
        rows[: len(vectors)] = vectors
        room = Room(rows, count)
    rows[len(vectors) : count] = more
    housed = rows[:count].view(Housed)
    housed.room = room
    return housed.view(np.ndarray)
