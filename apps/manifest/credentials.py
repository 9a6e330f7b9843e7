"""Where credentials stand in a document, and the document without them.

For the manifest of an application and for an item of predefined content alike, valid or not: the
walk follows the models as far as they fit, and where the document is wrong it takes every reading
that is possible. A credential with a misspelt key is one too.

What hides a value is handed in as a `Seal`, because its key is the installation's;
`apps.catalog.masking` has the same functions with the seal of this one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel

from apps.manifest.authorizations import Authorization, RestAuthorization
from apps.manifest.manifest import Manifest
from apps.manifest.nodes import marks
from apps.manifest.parameters import RestConstParameter, is_credential
from apps.manifest.problems import Problem, write
from apps.manifest.secrets import HIDDEN, SECRET, is_hidden, is_reference, reads_as_credential
from apps.manifest.shapes import Choice, Items, Shape, Values, chosen, fields, shape_of
from apps.manifest.tools import (
    AnyDeploymentTool,
    AnyInternalTool,
    AnyRestTool,
    PredefinedTool,
)
from apps.manifest.toolsets import PredefinedToolSet, ToolSet, has_host

Keys = tuple[str | int, ...]
Seal = Callable[[str], str]
"""A text → what tells it from another one and does not tell what it is."""

TOOLS: tuple[Shape, ...] = tuple(map(shape_of, (AnyRestTool, AnyDeploymentTool, AnyInternalTool)))
ROOTS: tuple[Shape, ...] = (Manifest, shape_of(ToolSet), *TOOLS)
PATCHED: Mapping[type[BaseModel], tuple[Shape, ...]] = {
    PredefinedToolSet: (shape_of(ToolSet),),
    PredefinedTool: TOOLS,
}
"""What the `override` of a reference changes."""

OUTSIDE = frozenset(
    {"authorization", "password", "token", "access_token", "client_secret", "api_key", "secret"}
)
"""Names of credentials where no model knows the key."""
ADDRESSES = frozenset({"url", "base_url", "method_url", "token_url"})


@dataclass(frozen=True, slots=True)
class Place:
    """`keys` lead there from the root; `secret` is the name in a reference."""

    keys: Keys
    kind: Literal["plain", "reference", "hidden"]
    secret: str = ""

    @property
    def path(self) -> str:
        return write(self.keys)


@dataclass(frozen=True, slots=True)
class Unmasked:
    """`document` is complete only without problems."""

    document: Any
    problems: tuple[Problem, ...]


def credential_places(document: Any) -> tuple[Place, ...]:
    """Every credential that is written in a document, in its order; empty ones are none."""
    return tuple(_place(keys, value) for keys, value in _walk(document) if _is_written(value))


def masked(document: Any, seal: Seal) -> Any:
    """The document with `{"$hidden": "…"}` for each plain credential; equal ones look equal."""
    hidden = {
        place.keys: {HIDDEN: seal(_text(value_at(document, place.keys)))}
        for place in credential_places(document)
        if place.kind == "plain"
    }
    return replaced(document, hidden)


def unmasked(document: Any, current: Any, seals: Sequence[Seal]) -> Unmasked:
    """The document with what `current` has for each hidden credential.

    One goes back to where it was, or along with what was moved, but never to a server that it was
    not sent to before: else whoever may edit could read it.
    """
    known = [place for place in credential_places(current) if place.kind == "plain"]
    found: dict[Keys, Any] = {}
    problems: list[Problem] = []
    for place in credential_places(document):
        if place.kind != "hidden":
            continue
        fitting = [k for k in known if _is_sealed(document, place.keys, current, k.keys, seals)]
        fitting.sort(key=lambda candidate: candidate.keys != place.keys)
        servers = servers_of(document, place.keys)
        source = next((k for k in fitting if servers <= servers_of(current, k.keys)), None)
        if source is not None:
            found[place.keys] = value_at(current, source.keys)
        else:
            problems.append(Problem(place.path, ELSEWHERE if fitting else UNKNOWN))
    return Unmasked(replaced(document, found), tuple(problems))


UNKNOWN = "is a hidden credential, and none like it is stored; type it again, or name a secret"
ELSEWHERE = (
    "is a hidden credential that was stored for other servers; type it again, or name a secret"
)


def _is_sealed(
    document: Any, keys: Keys, current: Any, others: Keys, seals: Sequence[Seal]
) -> bool:
    wanted, text = value_at(document, keys)[HIDDEN], _text(value_at(current, others))
    return any(seal(text) == wanted for seal in seals)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


# --- Reading and changing single places -----------------------------------------------------


def value_at(document: Any, keys: Keys) -> Any:
    for key in keys:
        document = document[key]
    return document


def replaced(document: Any, values: Mapping[Keys, Any]) -> Any:
    """A copy with other values at some places; the rest is shared."""
    if not values:
        return document
    if () in values:
        return values[()]
    inner: dict[str | int, dict[Keys, Any]] = {}
    for keys, value in values.items():
        inner.setdefault(keys[0], {})[keys[1:]] = value
    copy: Any = list(document) if isinstance(document, list) else dict(document)
    for key, changes in inner.items():
        copy[key] = replaced(document[key], changes)
    return copy


def servers_of(document: Any, keys: Keys) -> frozenset[str]:
    """Where the credential at a place is sent, as far as the document says.

    Origins, and `predefined …` and `registered …` for what is written elsewhere. All of a toolset
    counts as one.
    """
    if keys[:1] == ("tool_sets",) and len(keys) > 1:
        document = value_at(document, keys[:2])
    found: set[str] = set()
    addresses: list[tuple[str, str]] = []
    rest = [document]
    while rest:
        value = rest.pop()
        rest += value if isinstance(value, list) else ()
        if isinstance(value, dict):
            rest += value.values()
            addresses += [(k, text) for k in ADDRESSES if isinstance(text := value.get(k), str)]
            found |= {
                f"{kind} {name}"
                for kind, key in (("predefined", "template_name"), ("registered", "server"))
                if isinstance(name := value.get(key), str)
            }
    return frozenset(found | origins(addresses))


def origins(addresses: Sequence[tuple[str, str]]) -> set[str]:
    """The servers of addresses by their keys; below a base, those without a host are on its own."""
    has_base = any(key == "base_url" and url for key, url in addresses)
    return {
        origin_of(url)
        for key, url in addresses
        if (url or key != "base_url") and (key != "method_url" or has_host(url) or not has_base)
    }


def origin_of(url: str) -> str:
    """Scheme, host and port where it is not the usual one, in lower case; "/" for this server."""
    if url.startswith("/"):
        return "/"
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return url
    scheme = parts.scheme.lower()
    host = f"[{host}]" if ":" in host else host
    is_usual = port in {None, {"http": 80, "https": 443}.get(scheme)}
    return f"{scheme}://{host}" if is_usual else f"{scheme}://{host}:{port}"


# --- The walk -------------------------------------------------------------------------------

_Found = tuple[Keys, Any]
_Waiting = tuple[Keys, tuple[Shape, ...], Any]


def _walk(document: Any) -> Iterator[_Found]:
    """Places where a credential may stand, with what stands there."""
    waiting: list[_Waiting] = [((), ROOTS, document)]
    while waiting:
        keys, shapes, value = waiting.pop()
        if shapes is CREDENTIAL:
            yield keys, value
        elif isinstance(value, list):
            inner = tuple(shape.of if isinstance(shape, Items) else shape for shape in shapes)
            members = [((*keys, index), inner, item) for index, item in enumerate(value)]
            waiting += reversed(members)
        elif isinstance(value, dict):
            models = tuple(_models(shapes, value))
            members = [
                ((*keys, key), _shapes(models, shapes, value, key), value[key]) for key in value
            ]
            waiting += reversed(members)
        elif Headers in shapes or any(map(_is_authorization, shapes)):
            yield keys, value


CREDENTIAL: tuple[Shape, ...] = (Values(None),)
"""In the place of shapes: whatever stands here is a credential."""
OPAQUE: tuple[Shape, ...] = (None,)
"""A value that belongs to somebody else, whatever its keys are called."""
AUTHORIZATIONS: tuple[Shape, ...] = (shape_of(RestAuthorization),)


class Headers(BaseModel):
    """The shape of headers: a name tells whether its value is a credential."""


def _is_authorization(shape: Shape) -> bool:
    return isinstance(shape, Choice) and all(
        isinstance(model, type) and issubclass(model, Authorization)
        for model in shape.models.values()
    )


def _shapes(
    models: tuple[type[BaseModel], ...], shapes: tuple[Shape, ...], value: Any, key: str
) -> tuple[Shape, ...]:
    """What a member of an object may be: () for what is not looked into for itself."""
    if any(_is_credential(model, value, key) for model in models):
        return CREDENTIAL
    if any(key in model.model_fields and marks(model, key).headers for model in models):
        return (Headers,)
    known = [fields(model)[key] for model in models if key in fields(model)]
    known += [shape.of for shape in shapes if isinstance(shape, Values)]
    known = [member for shape in known for member in _opened(shape)]
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
    if key in model.model_fields and marks(model, key).credential:
        return True
    if model is Headers:
        return reads_as_credential(key) or not isinstance(value[key], str)
    if not issubclass(model, RestConstParameter) or key != "const":
        return False
    const = value["const"]
    return is_credential(value) or (
        isinstance(const, dict) and (SECRET in const or HIDDEN in const)
    )


def _opened(shape: Shape) -> Iterator[Shape]:
    """A shape that is looked into; plain values have none."""
    if shape is not None and not (isinstance(shape, Items | Values) and shape.of is None):
        yield shape


def _models(shapes: tuple[Shape, ...], value: dict[str, Any]) -> Iterator[type[BaseModel]]:
    """What an object may mean to be: one model where it can be told, else each that is possible."""
    for shape in shapes:
        if isinstance(shape, Items):
            yield from _models((shape.of,), value)
        elif isinstance(shape, Choice):
            found = chosen(shape, value)
            yield from _models((found,) if found else tuple(shape.models.values()), value)
        elif isinstance(shape, type):
            yield shape


def _place(keys: Keys, value: Any) -> Place:
    if is_reference(value):
        return Place(keys, "reference", value[SECRET])
    return Place(keys, "hidden" if is_hidden(value) else "plain")


def _is_written(value: Any) -> bool:
    return value is not None and value not in ("", [], {})
