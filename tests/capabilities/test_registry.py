"""What the capabilities of one run tell each other."""

import pytest

from apps.capabilities.registry import Key, Known

COUNT = Key[int]("count")
NAMES = Key[list[str]]("names")


async def test_a_value_is_made_or_asked_for_once():
    known = Known()
    answers = iter((1, 2))

    async def ask() -> int:
        return next(answers)

    known.get_or_make(NAMES, list).append("a")

    assert known.get_or_make(NAMES, list) == known[NAMES] == ["a"]
    assert [await known.get_or_ask(COUNT, ask) for _ in range(2)] == [1, 1]


def test_what_nobody_found_out_is_not_known():
    known = Known()

    with pytest.raises(KeyError):
        known[COUNT]

    assert COUNT not in known


def test_two_keys_of_one_name_are_two_values():
    known, other = Known(), Key[int]("count")
    known[COUNT] = 1
    known[other] = 2

    assert (known[COUNT], known[other]) == (1, 2)
