"""Formats errors as Anthropic's Messages API does."""

from typing import Any

from apps import request_ids
from apps.runs.failures import RunFailure

TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}


def error_body(found: RunFailure) -> dict[str, Any]:
    kind = TYPES.get(found.status) or ("api_error" if found.status >= 500 else TYPES[400])
    error = {"type": kind, "message": found.text}
    return {"type": "error", "error": error, "request_id": request_ids.current()}
