"""Finds the credentials in a document: the manifest of an application, or a predefined item.

The document need not be valid. The search follows the pydantic models. If part of the document
matches no model, the search tries every possible model, so it also finds credentials next to
misspelled keys.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel

from apps.manifest.json_places import Keys
from apps.manifest.kinds.predefined import PredefinedToolSet
from apps.manifest.manifest import Manifest
from apps.manifest.nodes import marks
from apps.manifest.problems import write_path
from apps.manifest.secrets import HIDDEN, SECRET, is_hidden, is_reference, reads_as_credential
from apps.manifest.shapes import Choice, Items, Shape, Values, choose_shape, fields, shape_of
from apps.manifest.toolsets.authorizations import Authorization, RestAuthorization
from apps.manifest.toolsets.kinds import WRITTEN, ToolSet, tool_of
from apps.manifest.toolsets.rest_parameters import RestConstParameter, is_credential
from apps.manifest.toolsets.tools import PredefinedTool

Kind = Literal["plain", "reference", "hidden"]
Shapes = tuple[Shape, ...]

TOOLS: Shapes = tuple(shape_of(tool_of(schema)) for schema in WRITTEN)
ROOTS: Shapes = (Manifest, shape_of(ToolSet), *TOOLS)
PATCHED: Mapping[type[BaseModel], Shapes] = {
    PredefinedToolSet: (shape_of(ToolSet),),
    PredefinedTool: TOOLS,
}
"""Maps the models that refer to predefined content to the models whose fields their `override` can
change.
"""

OUTSIDE = frozenset(
    {"authorization", "password", "token", "access_token", "client_secret", "api_key", "secret"}
)
"""Keys whose values count as credentials in the parts of a document that no model describes."""


@dataclass(frozen=True, slots=True)
class CredentialLocation:
    """A credential and its location in a document."""

    keys: Keys
    """The keys and indexes from the root of the document."""
    kind: Kind
    secret: str = ""
    """The name of the secret if `kind` is "reference", else ""."""
    value: Any = field(default=None, repr=False, compare=False)

    @property
    def path(self) -> str:
        return write_path(self.keys)


def find_credentials(document: Any, kind: Kind | None = None) -> tuple[CredentialLocation, ...]:
    """Return the credentials in a document, in document order. `kind` restricts the result to plain
    credentials, references to secrets, or masks of stored credentials.
    """
    written = (_locate(*found) for found in _walk(document) if found[1] not in (None, "", [], {}))
    return tuple(place for place in written if kind in (None, place.kind))


def _locate(keys: Keys, value: Any) -> CredentialLocation:
    if is_reference(value):
        return CredentialLocation(keys, "reference", value[SECRET], value)
    return CredentialLocation(keys, "hidden" if is_hidden(value) else "plain", value=value)


CREDENTIAL: Shapes = (Values(None),)
"""The shape of a credential."""
OPAQUE: Shapes = (None,)
"""The shape of a value whose format no model describes."""
AUTHORIZATIONS: Shapes = (shape_of(RestAuthorization),)


class Headers(BaseModel):
    """The shape of an object that maps header names to values. A header's name determines whether
    its value is a credential.
    """


def _walk(document: Any) -> Iterator[tuple[Keys, Any]]:
    """Yield the values that may be credentials, each with its location."""
    waiting: list[tuple[Keys, Shapes, Any]] = [((), ROOTS, document)]
    while waiting:
        keys, shapes, value = waiting.pop()
        if shapes is CREDENTIAL:
            yield keys, value
        elif isinstance(value, list | dict):
            waiting += reversed([*_members(keys, shapes, value)])
        elif Headers in shapes or any(map(_is_authorization, shapes)):
            yield keys, value


def _members(keys: Keys, shapes: Shapes, value: Any) -> Iterator[tuple[Keys, Shapes, Any]]:
    if isinstance(value, list):
        inner = tuple(shape.of if isinstance(shape, Items) else shape for shape in shapes)
        yield from (((*keys, index), inner, item) for index, item in enumerate(value))
    else:
        models = tuple(_models(shapes, value))
        for key, member in value.items():
            yield (*keys, key), _shapes(models, shapes, value, key), member


def _is_authorization(shape: Shape) -> bool:
    return isinstance(shape, Choice) and all(
        isinstance(model, type) and issubclass(model, Authorization)
        for model in shape.models.values()
    )


def _shapes(
    models: tuple[type[BaseModel], ...], shapes: Shapes, value: Mapping[str, Any], key: str
) -> Shapes:
    """Return the possible shapes of an object's member, or () if the member need not be searched."""
    if any(_is_credential(model, value, key) for model in models):
        return CREDENTIAL
    if any(marks(model, key).headers for model in models):
        return (Headers,)
    members = [fields(model)[key] for model in models if key in fields(model)]
    members += [shape.of for shape in shapes if isinstance(shape, Values)]
    known = [shape for shape in members if not _is_plain(shape)]
    if key == "override":
        known += [shape for model in models for shape in PATCHED.get(model, ())]
    if known or any(key in fields(model) for model in models):
        return tuple(known) or OPAQUE
    if shapes is OPAQUE:
        return OPAQUE
    if any(issubclass(model, Authorization) for model in models) and key != "type":
        return CREDENTIAL
    if key in OUTSIDE:
        return AUTHORIZATIONS if key == "authorization" else CREDENTIAL
    return ()


def _is_credential(model: type[BaseModel], value: Mapping[str, Any], key: str) -> bool:
    if marks(model, key).credential:
        return True
    if model is Headers:
        return reads_as_credential(key) or not isinstance(value[key], str)
    if not issubclass(model, RestConstParameter) or key != "const":
        return False
    const = value["const"]
    return is_credential(value) or (
        isinstance(const, dict) and (SECRET in const or HIDDEN in const)
    )


def _is_plain(shape: Shape) -> bool:
    """Return True if the shape is that of a plain value, or of a list or object of plain values.
    Such a value cannot contain a credential.
    """
    return shape is None or (isinstance(shape, Items | Values) and shape.of is None)


def _models(shapes: Shapes, value: Mapping[str, Any]) -> Iterator[type[BaseModel]]:
    """Yield the model of an object, or every possible model if it cannot be determined."""
    for shape in shapes:
        if isinstance(shape, Items):
            yield from _models((shape.of,), value)
        elif isinstance(shape, Choice):
            found = choose_shape(shape, value)
            yield from _models((found,) if found else tuple(shape.models.values()), value)
        elif isinstance(shape, type):
            yield shape
