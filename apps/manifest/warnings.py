"""Warnings about a manifest that can be used: ignored keys, deprecated fields and the like."""

import difflib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from apps.manifest.client_tools import ClientTool
from apps.manifest.fallbacks import Continue, Retry
from apps.manifest.manifest import Manifest
from apps.manifest.nodes import is_preview, marks
from apps.manifest.parameters import ArraySchema, Displayed, Function, ObjectSchema, SimpleSchema
from apps.manifest.problems import Problem, join
from apps.manifest.rest_parameters import RestFunction
from apps.manifest.shapes import Visit, visits
from apps.manifest.tools import RestMethod

LONGEST_DESCRIPTION = 1024
"""Characters that model providers accept."""

Rule = Callable[[Visit], Iterator[tuple[str, str]]]
"""An object of the document → pairs of a key (or "" for the object itself) and a message."""


def warning_problems(document: dict[str, Any], *, preview: bool) -> list[Problem]:
    return problems_of(RULES if preview else (*RULES, gated_fields), document)


def preview_problems(document: dict[str, Any]) -> list[Problem]:
    """The parts for preview features, which are left out where those are off."""
    return problems_of((gated_fields,), document)


def problems_of(rules: Sequence[Rule], document: dict[str, Any]) -> list[Problem]:
    return [
        Problem(join(visit.path, key) if key else visit.path, message)
        for visit in visits(document, Manifest)
        for rule in rules
        for key, message in rule(visit)
    ]


def unknown_keys(visit: Visit) -> Iterator[tuple[str, str]]:
    if visit.model.model_config.get("extra") == "allow":
        return
    known = visit.model.model_fields
    for key in visit.value:
        if key not in known:
            near = difflib.get_close_matches(key[:100], known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            yield key, f"is not known here and is ignored{hint}"


def deprecated_fields(visit: Visit) -> Iterator[tuple[str, str]]:
    for key, value in known_members(visit):
        mark = marks(visit.model, key)
        if mark.advice and value is not None:
            state = "is deprecated" if mark.deprecated else "is ignored"
            yield key, f"{state}. {mark.advice}"


def long_descriptions(visit: Visit) -> Iterator[tuple[str, str]]:
    text = visit.value.get("description")
    length = len(text) if isinstance(text, str) else 0
    if length > LONGEST_DESCRIPTION and issubclass(visit.model, _DESCRIBED):
        yield (
            "description",
            f"has {length} characters; models accept {LONGEST_DESCRIPTION}. Shorten it.",
        )


_DESCRIBED = (Function, RestFunction, ClientTool, SimpleSchema, ObjectSchema, ArraySchema)


def unfit_defaults(visit: Visit) -> Iterator[tuple[str, str]]:
    default, kind = visit.value.get("default"), visit.value.get("type")
    if default is None or not issubclass(visit.model, Displayed) or not isinstance(kind, str):
        return
    is_boolean = isinstance(default, bool)
    fits = isinstance(default, _VALUES.get(kind, object)) and is_boolean == (kind == "boolean")
    options = visit.value.get("enum")
    if not fits or (isinstance(options, list) and default not in options):
        yield "default", "does not fit the parameter, so calls that leave it out are refused."


_VALUES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
}


def unused_instructions(visit: Visit) -> Iterator[tuple[str, str]]:
    if not issubclass(visit.model, Continue | Retry) or visit.value.get("trigger_on") is not None:
        return
    if visit.value.get("instructions") is not None:
        yield "instructions", "is ignored, because there is no `trigger_on`. Add one."


def empty_addresses(visit: Visit) -> Iterator[tuple[str, str]]:
    if not issubclass(visit.model, RestMethod):
        return
    address = visit.value.get("method_url")
    if isinstance(address, str) and not address.strip():
        yield "method_url", "is empty, so every call of the tool fails. Write the address."


def gated_fields(visit: Visit) -> Iterator[tuple[str, str]]:
    if is_preview(visit.model):
        yield "", GATED
    for key, value in known_members(visit):
        if marks(visit.model, key).preview and value is not None:
            yield key, GATED


GATED = "is left out: a preview feature, and those are off in this installation"


RULES: tuple[Rule, ...] = (
    unknown_keys,
    deprecated_fields,
    long_descriptions,
    unfit_defaults,
    unused_instructions,
    empty_addresses,
)


def known_members(visit: Visit) -> Iterator[tuple[str, object]]:
    """The members that are fields of the model, in the order of the document."""
    return (item for item in visit.value.items() if item[0] in visit.model.model_fields)
