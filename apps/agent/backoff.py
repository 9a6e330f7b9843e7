"""How long to wait before something that failed is tried again."""

from __future__ import annotations

import random
from dataclasses import dataclass

LONGEST_ASKED_SECONDS = 20.0
"""Of what a service asks for: a person is waiting, and gives up on an answer after about that."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """`attempts` counts the first one too; the pauses are in seconds."""

    attempts: int
    initial_delay: float
    max_delay: float

    def pause(self, attempt: int, asked: float | None = None) -> float:
        """Seconds to wait after that attempt (1 for the first).

        Drawn from the whole range ("full jitter"), so that those who failed together do not come
        back together. `asked` is what the service wants to be waited for: no less, within reason.
        """
        # The power is bounded by `attempts`, so it cannot outgrow a float.
        most = min(self.max_delay, self.initial_delay * 2 ** (attempt - 1))
        drawn = random.uniform(0.0, most)  # noqa: S311 - nothing is kept secret by it
        return max(drawn, min(asked or 0.0, LONGEST_ASKED_SECONDS))
