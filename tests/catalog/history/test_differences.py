from __future__ import annotations

import pytest

from apps.catalog.history.differences import MISSING, ValueDifference, differences


def tool(name, **fields):
    return {"open_ai_tool": {"function": {"name": name}}, **fields}


DIFFERENCES = [
    ({}, {}, []),
    ({"a": 1}, {"a": 1}, []),
    ({"a": 1}, {"a": 2}, [ValueDifference("a", "changed", 1, 2)]),
    ({"a": 1}, {"a": True}, [ValueDifference("a", "changed", 1, True)]),
    ({"a": None}, {}, [ValueDifference("a", "removed", None, MISSING)]),
    ({}, {"a": None}, [ValueDifference("a", "added", MISSING, None)]),
    ({"a": []}, {"a": {}}, [ValueDifference("a", "changed", [], {})]),
    ({"a b": 1}, {"a b": 2}, [ValueDifference('["a b"]', "changed", 1, 2)]),
    ({"x": {"y": [1, 2]}}, {"x": {"y": [1, 3]}}, [ValueDifference("x.y[1]", "changed", 2, 3)]),
    (["a", "b"], ["new", "a", "b"], [ValueDifference("[0]", "added", MISSING, "new")]),
    (["a", "b"], ["b"], [ValueDifference("[0]", "removed", "a", MISSING)]),
    (["a", "b"], ["b", "a"], [ValueDifference("", "moved", [0, 1], [1, 0])]),
    (["a", "a"], ["a"], [ValueDifference("[1]", "removed", "a", MISSING)]),
    ([{"x": 1}], [{"x": 2}], [ValueDifference("[0].x", "changed", 1, 2)]),
]


def test_each_place_that_differs_is_told_once(subtests: pytest.Subtests):
    for before, after, found in DIFFERENCES:
        with subtests.test(before=before):
            assert list(differences(before, after)) == found


def test_an_item_that_was_moved_and_changed_is_still_the_same_item():
    before = {"tools": [tool("first", url="a"), tool("second")]}
    after = {"tools": [tool("second"), tool("first", url="b")]}

    assert list(differences(before, after)) == [
        ValueDifference("tools", "moved", [0, 1], [1, 0]),
        ValueDifference("tools[1].url", "changed", "a", "b"),
    ]


def test_a_difference_has_the_list_items_on_its_path():
    tools = [tool("first", url="a"), tool("second", url="a"), tool("third")]
    changed = [tool("second", url="b")]
    before, after = [{"name": "A", "tools": tools}], [{"name": "A", "tools": changed}]

    found = [(one.path, one.items) for one in differences(before, after)]

    assert found == [
        ("[0].tools[0].url", (after[0], changed[0])),
        ("[0].tools[0]", (after[0], tools[0])),
        ("[0].tools[2]", (after[0], tools[2])),
    ]


def test_an_item_that_got_another_name_is_a_changed_one():
    before = {"tool_sets": [{"type": "rest-api", "name": "Weather", "tools": []}, {"name": "B"}]}
    after = {"tool_sets": [{"type": "rest-api", "name": "Clima", "tools": []}, {"name": "B"}]}

    assert list(differences(before, after)) == [
        ValueDifference("tool_sets[0].name", "changed", "Weather", "Clima")
    ]


def test_what_stands_for_a_credential_is_one_value():
    before, after = {"key": {"$hidden": "1"}}, {"key": {"$hidden": "2"}}

    assert list(differences(before, after)) == [
        ValueDifference("key", "changed", {"$hidden": "1"}, {"$hidden": "2"})
    ]
