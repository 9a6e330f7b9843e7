"""Defines the base class of the gateway's endpoints, and error responses in DIAL's and OpenAI's
formats.
"""

from typing import Any

from apps.doors.consumer import DoorConsumer
from apps.doors.openai_errors import GENERAL_CODES, error_type, openai_error
from apps.runs.failures import RunFailure

INTERNAL = "runtime_error"


class GatewayConsumer(DoorConsumer):
    def error_body(self, found: RunFailure) -> dict[str, Any]:
        return error_body(found)


def error_body(found: RunFailure) -> dict[str, Any]:
    """Return a failure as JSON in DIAL's error format."""
    error = {
        "message": found.message,
        "type": error_type(found, INTERNAL),
        "code": error_code(found),
        "display_message": found.text,
    }
    return {"error": error}


def openai_error_body(found: RunFailure) -> dict[str, Any]:
    """Return a failure as JSON in OpenAI's error format. Its `message` is the text for the user,
    because clients show nothing else.
    """
    error = openai_error(found, internal=INTERNAL, code=error_code(found))
    return {"error": {**error, "display_message": found.text}}


def error_code(found: RunFailure) -> str:
    """Return the failure's error code. If the code is generic, return the HTTP status as text
    instead.
    """
    return str(found.status) if found.code in GENERAL_CODES else found.code
