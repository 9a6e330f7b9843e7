"""An error as DIAL's error body, and the statuses that only this door knows."""

from __future__ import annotations

from typing import Any

from apps.errors import BadRequest, QuickAppError
from apps.runs.failures import Failure, failure
from apps.streaming.consumer import BodyTooLarge, BodyTooSlow


class ManyChoices(BadRequest):
    def __init__(self, slug: str) -> None:
        super().__init__(f"{slug} deployment doesn't support n > 1")


UNTOLD = (BadRequest.code, QuickAppError.code)
STATUS: dict[type[Exception], int] = {BodyTooLarge: 413, BodyTooSlow: 408, ManyChoices: 422}


def answer_of(error: Exception) -> tuple[int, dict[str, Any]]:
    """The status and the body for an error; what is not the client's fault is logged."""
    found = failure(error)
    status = STATUS.get(type(error), found.status)
    return status, error_body(found, status)


def error_body(found: Failure, status: int) -> dict[str, Any]:
    """DIAL's error object; a code that only repeats the type gives way to the status."""
    error = {
        "message": found.message,
        "type": found.kind,
        "code": str(status) if found.code in UNTOLD else found.code,
        "display_message": found.text,
    }
    return {"error": error}
