"""Builds the response headers for retries and for rate limits. The latter have OpenAI's names."""

import math
from collections.abc import Sequence

from apps.doors.refusals import Header
from apps.errors import RateLimitReached
from apps.live.limits.quotas import KINDS, RemainingRate
from apps.runs.failures import TOO_MANY, RunFailure

MOST_RETRY_SECONDS = 31 * 86_400
"""The maximum value of `Retry-After` in seconds. It is long enough for monthly budgets."""


def rate_headers(rests: Sequence[RemainingRate]) -> tuple[Header, ...]:
    """Return the rate limit headers. Requests and tokens have separate headers, which describe the
    limit of that kind that is closest to being reached.
    """
    headers: list[Header] = []
    for kind in KINDS:
        of_kind = [rest for rest in rests if rest.rate.kind == kind]
        if of_kind:
            least = min(of_kind, key=lambda rest: rest.left)
            headers += headers_of_rate(kind, least.rate.most, least.left, least.seconds)
    return tuple(headers)


def failure_headers(found: RunFailure, error: Exception) -> tuple[Header, ...]:
    headers: list[Header] = []
    if found.retry_after is not None:
        seconds = math.ceil(min(found.retry_after, MOST_RETRY_SECONDS))
        headers.append((b"retry-after", b"%d" % seconds))
    if isinstance(error, RateLimitReached) and found.status == TOO_MANY:
        headers += headers_of_rate(error.kind, error.most, 0, error.retry_after)
    return tuple(headers)


def headers_of_rate(kind: str, most: int, left: int, seconds: float) -> Sequence[Header]:
    told = {"limit": most, "remaining": left, "reset": f"{math.ceil(seconds * 1000)}ms"}
    return [(f"x-ratelimit-{name}-{kind}".encode(), str(told[name]).encode()) for name in told]
