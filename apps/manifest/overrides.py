"""Merge patches (RFC 7396) that change a predefined tool or toolset before it is validated."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, ValidationInfo
from pydantic_core import PydanticCustomError

from apps.manifest.nodes import is_checked


def merge(target: Any, patch: Any) -> Any:
    """Apply a patch: null deletes a key, objects are merged, other values replace the old one."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge(merged.get(key), value)
    return merged


CHANGES_TYPE = (
    "contains `type`, which says what the template is and cannot be patched; "
    "remove it, or write the tool out"
)


def changes_type(patch: Mapping[str, Any]) -> bool:
    # Only the type of the item itself: parameters and strategies have types too.
    return "type" in patch


def _changes_no_type(patch: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    # A disabled reference is not checked. In a run, a wrong one is left out with an issue.
    if is_checked(info) and info.data.get("enabled", True) and changes_type(patch):
        raise PydanticCustomError("override_type", CHANGES_TYPE)
    return patch


Override = Annotated[dict[str, Any], AfterValidator(_changes_no_type)]
