"""Headers that tell of rates, under the names that OpenAI gives them."""

import math
from collections.abc import Sequence

from apps.doors.consumer import Header
from apps.errors import RateLimitReached
from apps.live.rates import KINDS, Rest


def headers_of(rests: Sequence[Rest]) -> tuple[Header, ...]:
    """Of each kind, the rate that ends first."""
    headers: list[Header] = []
    for kind in KINDS:
        of_kind = [rest for rest in rests if rest.rate.kind == kind]
        if of_kind:
            least = min(of_kind, key=lambda rest: rest.left)
            headers += headers_of_kind(kind, least.rate.most, least.left, least.seconds)
    return tuple(headers)


def headers_of_refusal(error: RateLimitReached) -> Sequence[Header]:
    return headers_of_kind(error.kind, error.most, 0, error.retry_after)


def headers_of_kind(kind: str, most: int, left: int, seconds: float) -> Sequence[Header]:
    told = {"limit": most, "remaining": left, "reset": f"{math.ceil(seconds * 1000)}ms"}
    return [(f"x-ratelimit-{name}-{kind}".encode(), str(told[name]).encode()) for name in told]
