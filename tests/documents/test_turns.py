from __future__ import annotations

from functools import partial
from threading import Event

import pytest

from apps.documents.turns import FairPool


def test_an_owner_with_one_task_does_not_wait_for_all_tasks_of_another():
    pool, gate = FairPool(1, "test"), Event()
    order: list[str] = []
    first = pool.submit("ada", gate.wait)
    tasks = [
        pool.submit(owner, partial(order.append, f"{owner}-{number}"))
        for owner, number in (("ada", 1), ("ada", 2), ("ada", 3), ("bob", 1), ("eve", 1))
    ]
    tasks[1].cancel()
    gate.set()

    assert first.result(60)
    tasks[2].result(60)
    assert order == ["ada-1", "bob-1", "eve-1", "ada-3"]


def test_a_failure_is_that_of_the_task():
    with pytest.raises(ZeroDivisionError):
        FairPool(1, "test").submit("ada", lambda: 1 / 0).result(60)


def test_an_owner_with_many_long_tasks_leaves_a_thread_to_the_others():
    pool, gate = FairPool(3, "test"), Event()
    long = [pool.submit("ada", gate.wait) for _ in range(10)]

    assert pool.submit("bob", lambda: "short").result(60) == "short"
    assert [task.done() for task in long] == [False] * 10

    gate.set()
    assert [task.result(60) for task in long] == [True] * 10
    pool.threads.shutdown()
    assert (pool.waiting, pool.running, pool.passed) == ({}, {}, 0)
