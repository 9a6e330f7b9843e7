"""Formats errors as OpenAI's Responses API does."""

from typing import Any

from apps.doors.openai_errors import GENERAL_CODES, openai_error
from apps.runs.failures import TOO_MANY, RunFailure

INTERNAL = "server_error"


def error_body(found: RunFailure) -> dict[str, Any]:
    return {"error": openai_error(found, internal=INTERNAL, code=error_code(found))}


def error_code(found: RunFailure) -> str | None:
    if found.code not in GENERAL_CODES and not found.code.isdigit():
        return found.code
    if found.status == TOO_MANY:
        return "rate_limit_exceeded"
    return None if found.status < 500 else INTERNAL
