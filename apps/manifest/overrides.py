"""Merge patches (RFC 7396) that change a predefined tool or toolset before it is validated."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError


def merge(target: Any, patch: Any) -> Any:
    """The target as the patch wants it: null deletes a key, objects merge, the rest replaces."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge(merged.get(key), value)
    return merged


def _changes_no_type(patch: dict[str, Any]) -> dict[str, Any]:
    """Only the type of the item itself is protected: parameters and strategies have types too."""
    if "type" in patch:
        raise PydanticCustomError(
            "override_type",
            "contains `type`, which says what the template is and cannot be patched; "
            "remove it, or write the tool out",
        )
    return patch


Override = Annotated[dict[str, Any], AfterValidator(_changes_no_type)]
