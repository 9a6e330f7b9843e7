from __future__ import annotations

from apps.agent.events import ModelUsage, Usage
from apps.runs.usage import total


def test_tokens_are_added_up_for_each_model_in_the_order_of_their_first_answers():
    spent = [ModelUsage("b", 1, 2), ModelUsage("a", 10, 20), ModelUsage("b", 100, 200)]

    assert total(spent) == Usage(111, 222, (ModelUsage("b", 101, 202), ModelUsage("a", 10, 20)))


def test_nothing_spent_is_nothing():
    assert total([]) == Usage(0, 0, ())


def test_cached_tokens_and_those_for_thinking_are_added_up_where_they_were_told():
    spent = [ModelUsage("a", 1, 2, 1, 5), ModelUsage("b", 1, 2), ModelUsage("a", 1, 2, 0, None, 2)]

    assert total(spent) == Usage(
        3,
        6,
        (ModelUsage("a", 2, 4, 1, 5, 2), ModelUsage("b", 1, 2)),
        cached=1,
        created=5,
        reasoning=2,
    )
