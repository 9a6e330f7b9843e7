"""Defines the base class of all manifest models, and the extra properties of their fields in the
schema.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationInfo

T = TypeVar("T")


class Node(BaseModel):
    """An object in a manifest. Unknown keys are dropped; `review` reports them.

    The docstring below a field describes it to operators in the reference, in the form and in the
    schema.
    """

    model_config = ConfigDict(
        frozen=True, extra="ignore", allow_inf_nan=False, use_attribute_docstrings=True
    )


CHECKED = "checked"
"""A key of the validation context. It enables checks for mistakes that do not prevent a run,
because the run omits the invalid part.
"""


def is_checked(info: ValidationInfo) -> bool:
    return bool((info.context or {}).get(CHECKED))


PREVIEW: dict[str, Any] = {"x-preview": True}
"""The `json_schema_extra` of a model that exists only if preview features are on."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The extra properties of a field in the schema, used as the field's `json_schema_extra`."""

    preview: bool = False
    resource: bool = False
    file: bool = False
    deprecated: bool = False
    credential: bool = False
    """The value is a secret."""
    headers: bool = False
    """The values are headers, some of which contain credentials."""
    advice: str = ""
    """The replacement for a deprecated or ineffective field."""

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
IN_PREVIEW = Marks(preview=True)
"""The marks of a field that is null if preview features are off."""


def marks(model: type[BaseModel], name: str) -> Marks:
    """Return the marks of the model's field, or empty marks if the field does not exist."""
    field = model.model_fields.get(name)
    extra = field.json_schema_extra if field is not None else None
    return extra if isinstance(extra, Marks) else NO_MARKS


def is_preview(model: type) -> bool:
    return issubclass(model, BaseModel) and model.model_config.get("json_schema_extra") == PREVIEW


def unpublished_default(value: T) -> Callable[[], T]:
    """Return a factory for a default that the schema omits, because installations may override it."""
    return lambda: value


class Switchable(Protocol):
    @property
    def enabled(self) -> bool: ...


S = TypeVar("S", bound=Switchable)


def enabled_nodes(kind: type[S], nodes: Iterable[object], path: str) -> Iterator[tuple[str, S]]:
    """Yield the enabled nodes of this type, each with its path. `path` is the path of the list."""
    for index, node in enumerate(nodes):
        if isinstance(node, kind) and node.enabled:
            yield f"{path}[{index}]", node
