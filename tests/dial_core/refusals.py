"""Core's refusals: mostly a status and plain text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse, PlainTextResponse, Response


class Refusal(Exception):
    """Ends a request with a status and a text, which may be empty."""

    def __init__(self, status: int, text: str = "", **headers: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def response(self) -> Response:
        return PlainTextResponse(self.text, self.status, self.headers)


def error_data(status: int, message: str, **fields: Any) -> Response:
    """Return the body of the few errors that Core writes as JSON: limits and connections."""
    error: Mapping[str, Any] = {
        "message": message,
        "code": str(status),
        "display_message": message,
        **fields,
    }
    return JSONResponse({"error": error}, status)
