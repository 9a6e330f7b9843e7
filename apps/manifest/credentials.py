"""Where credentials stand in a document: the manifest of an application, or a predefined item.

The document need not be valid: the walk follows the models as far as they fit, and where the
document is wrong it takes every reading that is possible. A credential with a misspelt key is one
too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel

from apps.manifest.authorizations import Authorization, RestAuthorization
from apps.manifest.manifest import Manifest
from apps.manifest.nodes import marks
from apps.manifest.places import Keys
from apps.manifest.problems import write
from apps.manifest.rest_parameters import RestConstParameter, is_credential
from apps.manifest.secrets import HIDDEN, SECRET, is_hidden, is_reference, reads_as_credential
from apps.manifest.shapes import Choice, Items, Shape, Values, chosen, fields, shape_of
from apps.manifest.tools import AnyDeploymentTool, AnyInternalTool, AnyRestTool, PredefinedTool
from apps.manifest.toolsets import PredefinedToolSet, ToolSet

Kind = Literal["plain", "reference", "hidden"]
Shapes = tuple[Shape, ...]

TOOLS: Shapes = tuple(map(shape_of, (AnyRestTool, AnyDeploymentTool, AnyInternalTool)))
ROOTS: Shapes = (Manifest, shape_of(ToolSet), *TOOLS)
PATCHED: Mapping[type[BaseModel], Shapes] = {
    PredefinedToolSet: (shape_of(ToolSet),),
    PredefinedTool: TOOLS,
}
"""What the `override` of a reference changes."""

OUTSIDE = frozenset(
    {"authorization", "password", "token", "access_token", "client_secret", "api_key", "secret"}
)
"""Names of credentials where no model knows the key."""


@dataclass(frozen=True, slots=True)
class Place:
    """`keys` lead there from the root; `secret` is the name in a reference."""

    keys: Keys
    kind: Kind
    secret: str = ""
    value: Any = field(default=None, repr=False, compare=False)

    @property
    def path(self) -> str:
        return write(self.keys)


def credential_places(document: Any, kind: Kind | None = None) -> tuple[Place, ...]:
    """The credentials that are written in a document, in its order: all of them, or of one kind."""
    written = (_place(*found) for found in _walk(document) if found[1] not in (None, "", [], {}))
    return tuple(place for place in written if kind in (None, place.kind))


def _place(keys: Keys, value: Any) -> Place:
    if is_reference(value):
        return Place(keys, "reference", value[SECRET], value)
    return Place(keys, "hidden" if is_hidden(value) else "plain", value=value)


CREDENTIAL: Shapes = (Values(None),)
"""In the place of shapes: whatever stands here is a credential."""
OPAQUE: Shapes = (None,)
"""A value that belongs to somebody else, whatever its keys are called."""
AUTHORIZATIONS: Shapes = (shape_of(RestAuthorization),)


class Headers(BaseModel):
    """The shape of headers: a name tells whether its value is a credential."""


def _walk(document: Any) -> Iterator[tuple[Keys, Any]]:
    """Places where a credential may stand, with what stands there."""
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
    """What a member of an object may be: () for what is not looked into for itself."""
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
    """Whether there is nothing to look into: plain values, and lists and objects of them."""
    return shape is None or (isinstance(shape, Items | Values) and shape.of is None)


def _models(shapes: Shapes, value: Mapping[str, Any]) -> Iterator[type[BaseModel]]:
    """What an object may mean to be: one model where it can be told, else each that is possible."""
    for shape in shapes:
        if isinstance(shape, Items):
            yield from _models((shape.of,), value)
        elif isinstance(shape, Choice):
            found = chosen(shape, value)
            yield from _models((found,) if found else tuple(shape.models.values()), value)
        elif isinstance(shape, type):
            yield shape
