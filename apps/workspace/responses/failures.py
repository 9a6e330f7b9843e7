"""Errors that the service tells inside of an answer, with the status that they stand for."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from apps.errors import ModelFailed
from apps.workspace.services.failures import (
    LASTING,
    TRANSIENT,
    status_of_code,
    text_of,
    tidy_message,
)

STATUSES: Mapping[str, int] = MappingProxyType(
    {
        "server_is_overloaded": 503,
        "vector_store_timeout": 504,
        "invalid_request_error": 400,
        "invalid_prompt": 400,
        "invalid_encrypted_content": 400,
        "bio_policy": 400,
        "data_residency_mismatch": 400,
        "misalignment_policy_violation": 400,
    }
)
"""As `CODE_STATUSES`, of this API alone."""
PICTURES = ("image_", "invalid_image", "invalid_base64_image", "unsupported_image", "empty_image")
"""Beginnings of codes for a picture in the request that cannot be used."""


def failure_of_response(error: Mapping[str, Any]) -> ModelFailed:
    """The `error` of a response that failed, or of an event that ends the stream."""
    code, kind = text_of(error.get("code")), text_of(error.get("type"))
    status = status_of(code) or status_of(kind)
    return ModelFailed(
        "The model's service broke off with an error.",
        status=status,
        is_transient=status in TRANSIENT and code not in LASTING,
        reason="stream",
        said=tidy_message(text_of(error.get("message"))),
        code=code,
        kind="" if kind == "error" else kind,
    )


def status_of(code: str) -> int | None:
    if code.startswith(PICTURES):
        return 400
    return STATUSES.get(code) or status_of_code(code)
