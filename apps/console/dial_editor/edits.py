"""The body and the result of a save in the framed editor."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from apps.catalog.json_text import JSONTextInvalid, parse

CONFLICT = (
    "Somebody saved this application while you were editing it. Compare with the saved one in "
    "another tab; saving again overwrites it with what stands here."
)


@dataclass(frozen=True, slots=True)
class Edit:
    """`text` is the manifest as it was typed, `version` the one that the editor began with.

    `general` has the fields that DIAL's chat edits itself, such as `name`; their types are not
    checked.
    """

    text: str = field(repr=False)
    version: str
    general: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Saved:
    version: str
    has_changes: bool


class Refused(Exception):
    """Nothing was saved; the message says why. `version` is the one saved meanwhile, or ""."""

    def __init__(self, message: str, version: str = "") -> None:
        super().__init__(message)
        self.version = version


def read_edit(body: QueryDict) -> Edit:
    """Raises `Refused`."""
    try:
        general = parse(body.get("general") or "{}")
    except JSONTextInvalid as error:
        raise Refused(f"What the chat sent along cannot be read: {error}") from error
    if not isinstance(general, dict):
        raise Refused("What the chat sent along is no object.")
    return Edit(body.get("manifest", ""), body.get("seen_version", ""), general)
