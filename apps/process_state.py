"""Resets the state that a process retains between requests.

A module with such state registers a function that clears it with `on_reset`. After a test's
rollback, new rows can have the IDs and versions of earlier rows, so each test ends with a `reset`.
"""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T", bound=Callable[[], object])

_forgetting: list[Callable[[], object]] = []


def on_reset(forget: T) -> T:
    """Register a function that clears some state, to be called at each reset. It can be used as a
    decorator.
    """
    _forgetting.append(forget)
    return forget


def reset() -> None:
    for forget in _forgetting:
        forget()
