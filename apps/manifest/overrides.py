"""Merge patches that change a predefined tool or toolset before it is validated."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from apps.manifest.paths import join


def forbidden_key(patch: object, path: str = "") -> str | None:
    """The path of the first key `type` in a patch, at any depth, or None."""
    if isinstance(patch, dict):
        if "type" in patch:
            return join(path, "type")
        children = [(join(path, key), value) for key, value in patch.items()]
    elif isinstance(patch, list):
        children = [(join(path, index), value) for index, value in enumerate(patch)]
    else:
        return None
    found = (forbidden_key(value, child) for child, value in children)
    return next((place for place in found if place), None)


def _changes_no_type(patch: dict[str, Any]) -> dict[str, Any]:
    if place := forbidden_key(patch):
        raise PydanticCustomError(
            "override_type",
            f"contains the key `type` (at {place}), which a patch must not; "
            "write the tool out instead of patching it",
        )
    return patch


Override = Annotated[dict[str, Any], AfterValidator(_changes_no_type)]
