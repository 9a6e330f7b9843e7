"""Process-wide state beyond a request, and one call that resets all of it.

A module with such state registers a function with `on_reset` that clears it. Rows after a test's
rollback reuse IDs and versions, so each test ends with a `reset`.
"""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T", bound=Callable[[], object])

_forgetting: list[Callable[[], object]] = []


def on_reset(forget: T) -> T:
    """Call `forget` at each reset. This can be used as a decorator."""
    _forgetting.append(forget)
    return forget


def reset() -> None:
    for forget in _forgetting:
        forget()
