"""Count the browsers, sites, servers and databases that this process has launched for its tests."""

from __future__ import annotations

from collections import Counter

LAUNCHED: Counter[str] = Counter()
"""The number of launches by name; `tests.suite.measure` adds up those of all processes."""
