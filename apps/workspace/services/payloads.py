"""JSON of services that a strict decoder refuses as it came, read all the same."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from apps.agent.surrogates import decode_json, mend
from apps.errors import ModelFailed
from apps.workspace.services.json_shapes import shape_of

T = TypeVar("T")


def read_mended(decode: Callable[[bytes], T], kind: type[T], payload: bytes) -> T:
    """With halves of characters replaced; `decode` makes a `kind`. Raises `ModelFailed`."""
    try:
        return decode_json(decode, payload)
    except msgspec.ValidationError:
        return read_loosely(kind, payload)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ModelFailed(
            "The model's service sent an event that is not JSON.", reason="unreadable"
        ) from error


def read_loosely(kind: type[T], payload: bytes) -> T:
    """Some services write null where a key should be left out. Raises `ModelFailed`."""
    written: Any = None
    try:
        written = msgspec.json.decode(mend(payload))
        return msgspec.convert(without_nulls(written), kind, strict=False)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ModelFailed(
            f"The model's service sent an event that is not understood: {shape_of(written)}",
            reason="unreadable",
        ) from error


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
