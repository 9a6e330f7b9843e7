"""Count the work of a function, for tests of its growth. Times would depend on the machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def count_calls(function: Callable[[], object]) -> int:
    """Return how many functions, built-in ones included, are called while `function` runs."""
    count = 0

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count
