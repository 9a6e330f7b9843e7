"""Vectors that grow without being copied."""

from __future__ import annotations

import gc

import numpy as np

from apps.workspace.memories.growth import Housed, appended


def rows(*values: int) -> np.ndarray:
    return np.array([[value, value] for value in values], np.float32)


def test_the_rows_stay_where_they_are_until_there_is_no_room():
    grown, addresses = rows(0), []
    for value in range(1, 200):
        grown = appended(grown, rows(value))
        addresses.append(grown.ctypes.data)

    assert np.array_equal(grown, rows(*range(200)))
    assert len(set(addresses)) <= 4


def test_what_was_added_first_stays_when_something_else_is_added_to_the_same():
    before = appended(rows(1), rows(2))

    one = appended(before, rows(3))
    other = appended(before, rows(4, 5))

    assert np.array_equal(before, rows(1, 2))
    assert np.array_equal(one, rows(1, 2, 3))
    assert np.array_equal(other, rows(1, 2, 4, 5))


def test_the_room_goes_with_the_last_array_that_uses_it():
    before = appended(rows(1), rows(2))
    assert isinstance(before.base, Housed)
    room = before.base.room
    after = appended(before, rows(3))
    del before
    assert room.rows() is not None

    gc.disable()
    try:
        del after
        assert room.rows() is None
    finally:
        gc.enable()
