from __future__ import annotations

import time

from apps.process_state import AgedCache


def test_a_value_is_as_old_as_its_question():
    cache = AgedCache[str, int]()
    cache.put("a", 1, time.monotonic() - 10)

    assert (cache.get("a", 9), cache.get("a", 11), cache.get("a"), cache.get("b")) == (
        None,
        1,
        1,
        None,
    )


def test_nothing_is_young_enough_for_no_seconds():
    cache = AgedCache[str, int]()
    cache.put("a", 1)

    assert cache.get("a", 0.0) is None


def test_the_value_that_was_put_first_gives_way():
    cache = AgedCache[str, int](most=2)
    for key in ("a", "b", "a", "c"):
        cache.put(key, 1)

    assert list(cache.values) == ["a", "c"]


def test_what_was_asked_for_before_the_key_was_dropped_is_not_kept():
    cache = AgedCache[str, int]()
    cache.put("a", 1)
    asked_at = time.monotonic()

    cache.drop("a")
    cache.put("a", 1, asked_at)
    cache.put("b", 1, asked_at)

    assert (cache.get("a"), cache.get("b")) == (None, 1)
    cache.put("a", 2)
    assert cache.get("a") == 2


def test_an_older_answer_does_not_replace_a_newer_one():
    cache = AgedCache[str, int]()
    asked_at = time.monotonic()
    cache.put("a", 2)

    cache.put("a", 1, asked_at)

    assert cache.get("a") == 2


def test_all_is_forgotten_at_once():
    cache = AgedCache[str, int]()
    cache.put("a", 1)

    cache.clear()

    assert cache.get("a") is None


async def test_a_value_that_is_old_is_asked_for_once_while_others_use_it():
    cache = AgedCache[str, int]()
    cache.put("a", 1)
    asked: list[int | None] = []

    async def ask(known: int | None) -> int:
        asked.append(known)
        assert await cache.renewed("a", 60, ask) == 1  # another caller, in the meantime
        return 2

    assert await cache.renewed("a", 0, ask) == 2
    assert (asked, cache.get("a")) == ([1], 2)


async def test_nothing_is_kept_of_a_key_that_never_had_a_value():
    cache = AgedCache[str, int]()

    async def ask(known: int | None) -> int | None:
        return None

    assert await cache.renewed("a", 60, ask) is None
    assert cache.values == {}
