"""An error as DIAL's error body, and the statuses that only this door knows."""

from __future__ import annotations

from math import ceil
from typing import Any

from apps.errors import BadRequest, QuickAppError
from apps.runs.failures import PASSED_ON, WITH_LIMITS, Failure, failure
from apps.streaming.bodies import BodyTooLarge, BodyTooSlow
from apps.streaming.consumer import Header


class ManyChoices(BadRequest):
    def __init__(self, slug: str) -> None:
        super().__init__(f"{slug} deployment doesn't support n > 1")


UNTOLD = (BadRequest.code, QuickAppError.code)
STATUS: dict[type[Exception], int] = {BodyTooLarge: 413, BodyTooSlow: 408, ManyChoices: 422}


MOST_RETRY_SECONDS = 86_400
"""A quota of a day is the longest there is; a client need not be told to wait for years."""


def answer_of(
    error: Exception, *, for_core: bool = False
) -> tuple[int, dict[str, Any], tuple[Header, ...]]:
    """The status, the body and headers for an error; what is not the client's fault is logged.

    Everybody but Core is told of a limit of the model's service: Core relays other statuses only.
    """
    found = failure(error, PASSED_ON if for_core else WITH_LIMITS)
    status = STATUS.get(type(error), found.status)
    return status, error_body(found, status), headers_of(found)


def headers_of(found: Failure) -> tuple[Header, ...]:
    if found.retry_after is None:
        return ()
    seconds = ceil(min(found.retry_after, MOST_RETRY_SECONDS))
    return ((b"retry-after", str(seconds).encode()),)


def error_body(found: Failure, status: int) -> dict[str, Any]:
    """DIAL's error object; a code that only repeats the type gives way to the status."""
    error = {
        "message": found.message,
        "type": found.kind,
        "code": str(status) if found.code in UNTOLD else found.code,
        "display_message": found.text,
    }
    return {"error": error}
