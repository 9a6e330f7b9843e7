"""Parses the save requests of the framed editor, and defines their results."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from apps.manifest.json_text import JSONTextInvalid, parse_json

CONFLICT = (
    "Another user saved this application while you were editing it. Compare with the saved one in "
    "another tab; saving again overwrites it with your version."
)


@dataclass(frozen=True, slots=True)
class Edit:
    """A request from the framed editor to save its values."""

    text: str = field(repr=False)
    """The manifest as the user typed it."""
    version: str
    """The version of the application that the editor loaded."""
    general: Mapping[str, Any]
    """The fields that users edit in DIAL's chat, such as `name`. Their types are not checked."""


@dataclass(frozen=True, slots=True)
class EditSaved:
    version: str
    has_changes: bool


class EditRefused(Exception):
    """The edit was not saved. `version` is the version that another user saved in the meantime, or
    "" if there is none.
    """

    def __init__(self, message: str, version: str = "") -> None:
        super().__init__(message)
        self.version = version


def read_edit(body: QueryDict) -> Edit:
    """Parse the body of a save request. Raises `EditRefused` if it is invalid."""
    try:
        general = parse_json(body.get("general") or "{}")
    except JSONTextInvalid as error:
        raise EditRefused(f"The context from the chat cannot be read: {error}") from error
    if not isinstance(general, dict):
        raise EditRefused("The context from the chat is not a JSON object.")
    return Edit(body.get("manifest", ""), body.get("seen_version", ""), general)
