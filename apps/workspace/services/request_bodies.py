"""The body of a request as bytes, and what the log is told of what is not in it."""

import logging
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from apps.errors import BadRequest

logger = logging.getLogger(__name__)


def encode_body(fields: Mapping[str, Any]) -> bytes:
    """JSON. Raises `BadRequest` for text that is not Unicode."""
    try:
        return msgspec.json.encode(fields, enc_hook=as_dict)
    except UnicodeEncodeError as error:
        raise BadRequest(
            "Text that is not Unicode", "A message contains half of a character; send it again."
        ) from error


def as_dict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON.")


@lru_cache(maxsize=1024)  # once for each, in a process
def log_left_out(model: str, name: str) -> None:
    logger.warning("%s is asked without %r, which its service does not take.", model, name)
