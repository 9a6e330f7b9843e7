"""The pauses between attempts at something that failed."""

import random
from dataclasses import dataclass
from math import inf

LONGEST_ASKED_SECONDS = 30.0
"""A service that wants to be left alone for longer is not asked again: nobody waits for an answer."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """`attempts` counts the first one too; the delays are in seconds."""

    attempts: int
    initial_delay: float
    max_delay: float

    def pause(self, attempt: int, asked: float | None = None, left: float = inf) -> float | None:
        """Seconds to wait after that attempt (1 for the first); None if it was the last.

        `asked` is the least that the service wants, and never cut short. None also if that is too
        long, or the next attempt would begin after the `left` seconds.
        """
        if attempt >= self.attempts or (asked or 0.0) > LONGEST_ASKED_SECONDS:
            return None
        most = min(self.max_delay, self.initial_delay * 2 ** (attempt - 1))
        # From the whole range ("full jitter"): callers that failed together do not return together.
        drawn = random.uniform(0.0, most)  # noqa: S311 - nothing is kept secret by it
        pause = max(drawn, asked or 0.0)
        return pause if pause < left else None
