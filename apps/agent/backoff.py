"""Computes the pauses between retries."""

import random
from dataclasses import dataclass
from math import inf

LONGEST_RETRY_AFTER = 30.0
"""The maximum `Retry-After` in seconds. If a service asks for more, the request is not retried,
because users would not wait that long.
"""


@dataclass(frozen=True, slots=True)
class Backoff:
    """An exponential backoff with full jitter. The delays are in seconds."""

    attempts: int
    """The number of attempts, including the first one."""
    initial_delay: float
    max_delay: float

    def pause(
        self, attempt: int, retry_after: float | None = None, left: float = inf
    ) -> float | None:
        """Return the seconds to wait after attempt number `attempt`, counted from 1, or None to
        give up.

        `retry_after` is the service's `Retry-After`, which is never shortened. Returns None after
        the last attempt, if `retry_after` is too long, or if the pause is not shorter than `left`.
        """
        if attempt >= self.attempts or (retry_after or 0.0) > LONGEST_RETRY_AFTER:
            return None
        most = min(self.max_delay, self.initial_delay * 2 ** (attempt - 1))
        # Full jitter: callers that failed at the same time do not retry
        # at the same time.
        drawn = random.uniform(0.0, most)  # noqa: S311 - not used for secrets
        pause = max(drawn, retry_after or 0.0)
        return pause if pause < left else None
