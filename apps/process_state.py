"""Resets the state that a process retains between requests, such as caches.

A module with such state uses `on_reset` to register a function that clears it. Each test ends with
a `reset`, because new rows can have the IDs and versions of rows that a rollback removed.
"""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T", bound=Callable[[], object])

_forgetting: list[Callable[[], object]] = []


def on_reset(forget: T) -> T:
    """Register a function that clears some state. It can be used as a decorator."""
    _forgetting.append(forget)
    return forget


def reset() -> None:
    for forget in _forgetting:
        forget()
