"""Appends vectors to arrays with spare rows. Copying 10,000 vectors (15 MB) to add one would take
half the time of storing a memory.

A returned array never changes. The first caller that adds to an array writes into the spare rows
after it. If that change is not stored, the next caller that adds to the same array gets a copy.
"""

from threading import Lock
from typing import Any
from weakref import ref

import numpy as np

from apps.workspace.embeddings.port import Vectors

LEAST_SPARE_ROWS = 64
SHARE = 8
"""The number of spare rows is the number of used rows divided by this number, but at least
`LEAST_SPARE_ROWS`.
"""


class SpareRows:
    """Counts the used rows of an array with spare rows. It does not keep the array alive."""

    def __init__(self, rows: "ArrayWithSpareRows", filled: int) -> None:
        self.rows, self.filled, self.lock = ref(rows), filled, Lock()

    def claim(self, start: int, stop: int) -> "ArrayWithSpareRows | None":
        """Claim the rows from `start` to `stop`, and return the array with all rows. Return None if
        some of these rows do not exist or are already in use.
        """
        rows = self.rows()
        with self.lock:
            if rows is None or self.filled != start or stop > len(rows):
                return None
            self.filled = stop
            return rows


class ArrayWithSpareRows(np.ndarray[Any, np.dtype[np.float32]]):
    """An array with spare rows. Other code sees only plain arrays that are views of it."""

    spare: SpareRows


def append_rows(vectors: Vectors, more: Vectors) -> Vectors:
    """Return the rows of `vectors`, followed by the rows of `more`. Spare rows of `vectors` are
    used if there are enough. All rows have the same length.
    """
    count = len(vectors) + len(more)
    spare = vectors.base.spare if isinstance(vectors.base, ArrayWithSpareRows) else None
    rows = spare.claim(len(vectors), count) if spare is not None else None
    if spare is None or rows is None:
        space = count + max(LEAST_SPARE_ROWS, count // SHARE)
        # NumPy keeps an array as the base of its views only if the array has its own class.
        rows = np.empty((space, vectors.shape[1]), np.float32).view(ArrayWithSpareRows)
        rows[: len(vectors)] = vectors
        spare = SpareRows(rows, count)
    rows[len(vectors) : count] = more
    view = rows[:count].view(ArrayWithSpareRows)
    view.spare = spare
    return view.view(np.ndarray)
