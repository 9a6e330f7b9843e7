"""Growing collections are neither copied nor scanned."""

from __future__ import annotations

import gc
from dataclasses import replace

import numpy as np

from apps.workspace.embeddings.port import Embeddings
from apps.workspace.memories import edits
from apps.workspace.memories.growth import ArrayWithSpareRows, append_rows
from apps.workspace.memories.port import MemoryItem, MemoryList


def rows(*values: int) -> np.ndarray:
    return np.array([[value, value] for value in values], np.float32)


def test_the_rows_stay_where_they_are_until_there_is_no_room():
    grown, addresses = rows(0), []
    for value in range(1, 200):
        grown = append_rows(grown, rows(value))
        addresses.append(grown.ctypes.data)

    assert np.array_equal(grown, rows(*range(200)))
    assert len(set(addresses)) <= 4


def test_what_was_added_first_stays_when_something_else_is_added_to_the_same():
    before = append_rows(rows(1), rows(2))

    one = append_rows(before, rows(3))
    other = append_rows(before, rows(4, 5))

    assert np.array_equal(before, rows(1, 2))
    assert np.array_equal(one, rows(1, 2, 3))
    assert np.array_equal(other, rows(1, 2, 4, 5))


def test_the_room_goes_with_the_last_array_that_uses_it():
    before = append_rows(rows(1), rows(2))
    assert isinstance(before.base, ArrayWithSpareRows)
    spare = before.base.spare
    after = append_rows(before, rows(3))
    del before
    assert spare.rows() is not None

    gc.disable()
    try:
        del after
        assert spare.rows() is None
    finally:
        gc.enable()


def test_what_is_known_of_all_memories_is_carried_over_when_some_are_added():
    made = Embeddings("random", np.ones((2, 4), np.float32), (0.0, 1.0))
    first = edits.with_added(
        MemoryList(), [MemoryItem(7, "tea"), MemoryItem(7, "お茶")], made, 10
    ).collection
    second = edits.with_added(
        first, [MemoryItem(8, "coffee"), MemoryItem(3, "水")], made, 10
    ).collection
    anew = replace(second)

    assert [memory.id for memory in second.memories] == [7, 8, 9, 3]
    assert (second.unknown_positions, second.characters) == ((1, 3), 12)
    assert second.used_ids == anew.used_ids == {7, 8, 9, 3}
    assert (anew.unknown_positions, anew.characters) == ((1, 3), 12)


def test_a_change_that_was_not_stored_leaves_no_trace_but_a_free_number():
    made = Embeddings("random", np.ones((1, 4), np.float32), (0.0,))
    first = edits.with_added(MemoryList(), [MemoryItem(7, "tea")], made, 10).collection
    edits.with_added(first, [MemoryItem(8, "lost")], made, 10)

    second = edits.with_added(first, [MemoryItem(8, "coffee")], made, 10).collection

    assert [(one.id, one.content) for one in second.memories] == [(7, "tea"), (9, "coffee")]
    assert second.characters == 9
