"""Formats errors as OpenAI's APIs do."""

from typing import Any

from apps.errors import BadRequest, BudgetSpent, QuickAppError
from apps.runs.failures import TOO_MANY, RunFailure

GENERAL_CODES = (BadRequest.code, QuickAppError.code)
FIELD = "Your request contained invalid structure on path "


def openai_error(found: RunFailure, *, internal: str, code: str | None) -> dict[str, Any]:
    """Return the error object. `internal` is the API's error type for server errors."""
    return {
        "message": found.text,
        "type": error_type(found, internal),
        "param": field_of(found),
        "code": code,
    }


def error_type(found: RunFailure, internal: str) -> str:
    """Return the error type that the model service reported, or else OpenAI's error type for the
    status. `internal` is the type for server errors.
    """
    if found.upstream_type:
        return found.upstream_type
    if found.code == BudgetSpent.code:
        return found.code
    if found.status == TOO_MANY:
        return "rate_limit_error"
    return "invalid_request_error" if found.status < 500 else internal


def field_of(found: RunFailure) -> str | None:
    """Return the path of the field that caused the error, or None."""
    path = found.message.removeprefix(FIELD) if found.message.startswith(FIELD) else ""
    return path.partition(". ")[0] or None
