"""Response headers about rate limits, the retry time, and ignored parameters.

The rate limit headers have OpenAI's names.
"""

import heapq
import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.bodies import invalid
from apps.doors.consumer import Header
from apps.errors import QuickAppError, RateLimitReached
from apps.live.limits.rates import KINDS, RemainingRate
from apps.runs.failures import TOO_MANY, RunFailure
from apps.workspace.port import Workspace

MOST_RETRY_SECONDS = 31 * 86_400
"""The maximum of `Retry-After` in seconds. Budgets reset every month, and quotas of services
sooner.
"""
IGNORED_HEADER = b"x-ignored-parameters"
LONGEST_NAME = 64
MOST_NAMES = 200
LONGEST_HEADER = 1000
_unsafe = re.compile(r"[^A-Za-z0-9_.-]")


def rate_headers(rests: Sequence[RemainingRate]) -> tuple[Header, ...]:
    """Return the rate limit headers: for each kind of limit, the values of the limit that will be
    reached first.
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


async def unsupported_parameters(
    parameters: Mapping[str, Any], application: ResolvedApplication, workspace: Workspace
) -> frozenset[str]:
    """Return the names of the parameters that the application's model does not support.

    Raises `BadRequest` if the client requested `logprobs` and the model does not support them.
    """
    if not parameters:
        return frozenset()
    try:
        info = await workspace.deployment(application.deployment_id)
    except QuickAppError:
        return frozenset()  # The run reports the error.
    supported = info.supported_parameters
    if supported is None:
        return frozenset()
    if parameters.get("logprobs") and "logprobs" not in supported:
        raise invalid("logprobs", "The model of this application does not report it. Leave it out.")
    return frozenset(parameters.keys() - supported)


def ignored_header(names: Collection[str]) -> tuple[Header, ...]:
    """Return the header that lists ignored parameters, truncated if there are very many, or () if
    there are none.
    """
    if not names:
        return ()
    first = heapq.nsmallest(MOST_NAMES, names)
    # Clients choose the names, so a name must not contain a line break or a separator.
    safe = sorted({_unsafe.sub("_", name[:LONGEST_NAME]) or "_" for name in first})
    value = ", ".join(safe)
    if len(value) > LONGEST_HEADER:
        value = f"{value[:LONGEST_HEADER].rpartition(', ')[0]}, ..."
    return ((IGNORED_HEADER, value.encode()),)
