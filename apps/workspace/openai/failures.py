"""What a model's service says when it fails, in the terms of the core.

Neither keys nor request bodies are part of any text here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import openai

from apps.errors import EgressRefused, ModelFailed
from apps.workspace.egress.sdk_clients import HTTPError, InvalidURL, TimeoutException


def failure_of_status(error: openai.APIStatusError) -> ModelFailed:
    """An answer that is not 2xx; the SDK has unwrapped `{"error": {…}}` already."""
    body = error.body if isinstance(error.body, Mapping) else {}
    return ModelFailed(
        f"The model's service answered with status {error.status_code}.",
        status=error.status_code,
        **details(body),
    )


def failure_in_stream(payload: bytes) -> ModelFailed:
    """An error that was sent as an event of the stream."""
    written = msgspec.json.decode(payload)
    body = written.get("error", written) if isinstance(written, Mapping) else {}
    found = details(body) if isinstance(body, Mapping) else details({"message": body})
    return ModelFailed(
        "The model's service broke off with an error.",
        status=status_of_code(found["code"]),
        reason="stream",
        **found,
    )


def failure_of_connection(error: Exception) -> ModelFailed:
    """No answer, or one that was cut off."""
    if isinstance(error, EgressRefused):
        return ModelFailed(str(error), reason="connection")
    if isinstance(error, InvalidURL):
        return ModelFailed("The address of the model's service is not valid.", reason="connection")
    cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else error
    detail = str(cause) if isinstance(cause, HTTPError) else ""
    if isinstance(error, (openai.APITimeoutError, TimeoutException)):
        return ModelFailed(f"The model's service is silent. {detail}".rstrip(), reason="timeout")
    text = f"The model's service cannot be reached or broke off. {detail}"
    return ModelFailed(text.rstrip(), reason="connection")


def failure_of_break(error: Exception | None = None) -> ModelFailed:
    """An answer that began and did not end."""
    if isinstance(error, TimeoutException):
        return failure_of_connection(error)
    return ModelFailed("The model's service broke off in the middle of an answer.", reason="stream")


def details(body: Mapping[str, Any]) -> dict[str, str]:
    """`code`, `kind` and `display` of an error's body; what is no text is left out."""
    code = body.get("code")
    display = body.get("display_message")
    return {
        "code": str(code) if isinstance(code, (str, int)) else "",
        "kind": text_of(body.get("type")),
        "display": text_of(display),
    }


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else ""


def status_of_code(code: str) -> int | None:
    """Some services write the HTTP status as the error's code."""
    return int(code) if code.isascii() and code.isdigit() and len(code) == 3 else None
