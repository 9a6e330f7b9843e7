"""What every object of a manifest is, and the marks that its fields carry into the schema."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationInfo

T = TypeVar("T")


class Node(BaseModel):
    """An object of a manifest. Keys it does not know are dropped, and reported by a review.

    The text below a field is what operators read about it: in the reference, in the form, in the
    schema.
    """

    model_config = ConfigDict(
        frozen=True, extra="ignore", allow_inf_nan=False, use_attribute_docstrings=True
    )


CHECKED = "checked"
"""In the context of a validation: somebody can mend the document, so they are told every mistake.

What is only run does without the part that a mistake is about, where that is possible.
"""


def is_checked(info: ValidationInfo) -> bool:
    return bool((info.context or {}).get(CHECKED))


PREVIEW: dict[str, Any] = {"x-preview": True}
"""`json_schema_extra` of a model that exists only while preview features are on."""


@dataclass(frozen=True, slots=True)
class Marks:
    """`json_schema_extra` of a field.

    `advice` says what to write instead of a field that should no longer be written; `credential`
    tells a field with a secret, which the schema then marks as `x-credential`; `headers` tells one
    with headers, of which some are credentials by their name.
    """

    preview: bool = False
    resource: bool = False
    file: bool = False
    deprecated: bool = False
    credential: bool = False
    headers: bool = False
    advice: str = ""

    def __call__(self, schema: dict[str, Any]) -> None:
        if self.preview:
            schema["x-preview"] = True
        if self.resource:
            schema["dial:resource"] = True
        if self.file:
            schema |= {"dial:file": True, "format": "dial-file-encoded"}
        if self.deprecated:
            schema["deprecated"] = True
        if self.credential:
            schema["x-credential"] = True


NO_MARKS = Marks()


def marks(model: type[BaseModel], name: str) -> Marks:
    """The marks of one field; a field without any has `NO_MARKS`."""
    extra = model.model_fields[name].json_schema_extra
    return extra if isinstance(extra, Marks) else NO_MARKS


def is_preview(model: type) -> bool:
    return issubclass(model, BaseModel) and model.model_config.get("json_schema_extra") == PREVIEW


def unpublished(value: T) -> Callable[[], T]:
    """A default that the schema does not show: an installation may choose another one.

    Whether a manifest sets the field itself is in `model_fields_set`.
    """
    return lambda: value
