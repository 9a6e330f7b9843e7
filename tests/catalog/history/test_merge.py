from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.catalog.history.differences import MISSING, same
from apps.catalog.history.merge import Clash, MergeResult, merge_documents


def merged(base, mine, theirs, **choices):
    found = merge_documents(base, mine, theirs, choices)
    return found.value, found.clashes


MERGED = [
    ({"a": 1, "b": 1}, {"a": 2, "b": 1}, {"a": 1, "b": 2}, {"a": 2, "b": 2}),
    ({"a": 1, "b": 1}, {"b": 1}, {"a": 1, "b": 2}, {"b": 2}),
    ({"a": 1}, {"a": 1, "m": 1}, {"a": 1, "t": 1}, {"a": 1, "m": 1, "t": 1}),
    ({"a": 1}, {"a": 2}, {"a": 2}, {"a": 2}),
    (["a", "b"], ["a", "b", "m"], ["t", "a", "b"], ["t", "a", "b", "m"]),
    (["a", "b", "c"], ["b", "c"], ["a", "b"], ["b"]),
    (["a", "b"], ["b", "a"], ["a", "b", "t"], ["b", "t", "a"]),
    ([1, 1, 1], [2, 1, 1], [1, 1, 3], [2, 1, 3]),
]


def test_what_does_not_overlap_goes_together(subtests: pytest.Subtests):
    for base, mine, theirs, result in MERGED:
        with subtests.test(base=base):
            assert merged(base, mine, theirs) == (result, [])


def test_two_may_change_two_items_of_one_list_that_was_also_put_in_order():
    def sets(*pairs):
        return {"tool_sets": [{"type": "mcp", "name": name, "url": url} for name, url in pairs]}

    result, clashes = merged(
        sets(("A", 1), ("B", 1)), sets(("A", 2), ("B", 1)), sets(("B", 3), ("A", 1), ("C", 1))
    )

    assert (result, clashes) == (sets(("B", 3), ("A", 2), ("C", 1)), [])


@pytest.mark.parametrize(
    ("chosen", "value"), [({}, 2), ({"a.x": "mine"}, 2), ({"a.x": "theirs"}, 3)]
)
def test_where_both_changed_one_place_somebody_chooses(chosen, value):
    result, clashes = merged({"a": {"x": 1}}, {"a": {"x": 2}}, {"a": {"x": 3}}, **chosen)

    assert (result, clashes) == ({"a": {"x": value}}, [Clash("a.x", 1, 2, 3)])


def test_a_clash_without_one_of_the_sides_is_undecided_and_mine_for_now():
    clashes = [Clash("a", 1, 2, 3), Clash("b", 1, 2, 3), Clash("c", 1, 2, 3)]
    base, mine, theirs = (dict.fromkeys("abc", value) for value in (1, 2, 3))

    found = merge_documents(base, mine, theirs, {"a": "theirs", "b": "neither"})

    assert found == MergeResult({"a": 3, "b": 2, "c": 2}, clashes, clashes[1:])


@pytest.mark.parametrize(("choice", "value"), [("mine", {}), ("theirs", {"a": 2})])
def test_removing_what_the_other_changed_is_a_clash(choice, value):
    result, clashes = merged({"a": 1}, {}, {"a": 2}, a=choice)

    assert (result, clashes) == (value, [Clash("a", 1, MISSING, 2)])


def test_without_a_base_whatever_differs_is_a_clash():
    result, clashes = merged(MISSING, {"a": 1, "b": 1}, {"a": 1, "b": 2})

    assert (result, clashes) == ({"a": 1, "b": 1}, [Clash("b", MISSING, 1, 2)])


def test_lists_of_different_lengths_whose_items_cannot_be_told_apart_are_a_clash():
    result, clashes = merged([1, 1], [1, 1, 2], [1, 1, 3])

    assert (result, clashes) == ([1, 1, 2], [Clash("", [1, 1], [1, 1, 2], [1, 1, 3])])


values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "a", "b"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "name", "type"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(values, values)
def test_an_edit_of_one_side_alone_is_taken_as_it_is(base, edited):
    for mine, theirs in ((edited, base), (base, edited), (edited, edited)):
        result, clashes = merged(base, mine, theirs)
        assert (same(result, edited), clashes) == (True, [])


@given(values, values, values)
def test_a_merge_never_fails_and_is_the_same_from_both_sides(base, mine, theirs):
    result, clashes = merged(base, mine, theirs)
    _, mirrored = merged(base, theirs, mine)

    assert result is MISSING or same(result, result)
    assert len(clashes) == len(mirrored)


def test_a_clash_has_the_list_items_on_its_path():
    base, mine, theirs = ([{"name": "A", "x": [{"name": "B", "y": value}]}] for value in (1, 2, 3))

    named = merge_documents(base, mine, theirs).clashes
    removed = merge_documents(base, [], theirs).clashes

    assert [(one.path, one.items) for one in named] == [
        ("[0].x[0].y", (mine[0], {"name": "B", "y": 2}))
    ]
    assert [(one.path, one.items) for one in removed] == [("[0]", (theirs[0],))]
