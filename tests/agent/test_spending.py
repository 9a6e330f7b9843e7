from __future__ import annotations

import pytest

from apps.agent.events import ModelUsage
from apps.agent.model import NamedUsage, Statistics, TokenUsage
from apps.agent.spending import spent

CACHED, THOUGHT = {"cached_tokens": 6, "audio_tokens": 1}, {"reasoning_tokens": 2}


def test_cached_tokens_and_those_for_thinking_are_read():
    usage = TokenUsage(9, 3, CACHED, THOUGHT)

    assert spent("gpt", usage, None) == (ModelUsage("gpt", 9, 3, 6, 2),)


@pytest.mark.parametrize("odd", [None, [], "6", {}, {"cached_tokens": None}])
@pytest.mark.parametrize("count", [-1, 0.5, True, "6", 10**13])
def test_details_of_another_shape_are_not_counted(odd, count):
    usage = TokenUsage(9, 3, odd, {"reasoning_tokens": count})

    assert spent("gpt", usage, None) == (ModelUsage("gpt", 9, 3),)


def test_none_is_told_apart_from_nothing_told():
    usage = TokenUsage(9, 3, {"cached_tokens": 0})

    assert spent("gpt", usage, None) == (ModelUsage("gpt", 9, 3, 0, None),)


def test_statistics_without_details_get_those_of_the_whole():
    statistics = Statistics([NamedUsage("a", 6, 2), NamedUsage("", 3, 1)])

    assert spent("gpt", TokenUsage(9, 3, CACHED, THOUGHT), statistics) == (
        ModelUsage("a", 6, 2, 6, 2),
        ModelUsage("gpt", 3, 1),
    )


def test_statistics_with_details_keep_their_own():
    statistics = Statistics([NamedUsage("a", 6, 2, {"cached_tokens": 1}), NamedUsage("b", 3, 1)])

    assert spent("gpt", TokenUsage(9, 3, CACHED, THOUGHT), statistics) == (
        ModelUsage("a", 6, 2, 1),
        ModelUsage("b", 3, 1),
    )


def test_nothing_told_is_nothing_spent():
    assert spent("gpt", None, Statistics()) == ()
