"""Resets all state that a process retains between requests, with one call.

A module with such state uses `on_reset` to register a function that clears the state. Rows after a
test's rollback reuse IDs and versions, so each test ends with a `reset`.
"""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T", bound=Callable[[], object])

_forgetting: list[Callable[[], object]] = []


def on_reset(forget: T) -> T:
    """Register `forget`, which is called at each reset. The function can be used as a decorator."""
    _forgetting.append(forget)
    return forget


def reset() -> None:
    for forget in _forgetting:
        forget()
