"""Finds warnings about a valid manifest, such as ignored keys and deprecated fields."""

import difflib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from apps.manifest.manifest import Manifest
from apps.manifest.nodes import is_preview, marks
from apps.manifest.problems import Problem, join_path
from apps.manifest.shapes import ShapeVisit, visits
from apps.manifest.toolsets.client_tools import ClientTool
from apps.manifest.toolsets.fallback_strategies import Continue, Retry
from apps.manifest.toolsets.parameters import (
    ArraySchema,
    DisplayedParameter,
    Function,
    ObjectSchema,
    SimpleSchema,
)
from apps.manifest.toolsets.rest_parameters import RestFunction
from apps.manifest.toolsets.tools import RestMethod

LONGEST_DESCRIPTION = 1024
"""The maximum number of characters in a description that model providers accept."""
MOST_TOOL_CHARACTERS = 20_000
"""If the JSON of a tool's parameters has more characters than this, the tool gets a warning. This
many characters add about 5,000 tokens to every request.
"""

Rule = Callable[[ShapeVisit], Iterator[tuple[str, str]]]
"""A rule that checks an object in the document. It yields pairs of a key and a warning. The key is
"" if the warning concerns the object itself.
"""


def warning_problems(document: dict[str, Any], *, preview: bool) -> list[Problem]:
    return problems_of(RULES if preview else (*RULES, gated_fields), document)


def preview_problems(document: dict[str, Any]) -> list[Problem]:
    """Return a problem for each part that uses a preview feature. Without preview features, these
    parts are omitted.
    """
    return problems_of((gated_fields,), document)


def problems_of(rules: Sequence[Rule], document: dict[str, Any]) -> list[Problem]:
    return [
        Problem(join_path(visit.path, key) if key else visit.path, message)
        for visit in visits(document, Manifest)
        for rule in rules
        for key, message in rule(visit)
    ]


def unknown_keys(visit: ShapeVisit) -> Iterator[tuple[str, str]]:
    if visit.model.model_config.get("extra") == "allow":
        return
    known = visit.model.model_fields
    for key in visit.value:
        if key not in known:
            near = difflib.get_close_matches(key[:100], known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            yield key, f"is an unknown field and has no effect{hint}"


def deprecated_fields(visit: ShapeVisit) -> Iterator[tuple[str, str]]:
    for key, value in known_members(visit):
        mark = marks(visit.model, key)
        if mark.advice and value is not None:
            state = "is deprecated" if mark.deprecated else "is ignored"
            yield key, f"{state}. {mark.advice}"


def long_descriptions(visit: ShapeVisit) -> Iterator[tuple[str, str]]:
    text = visit.value.get("description")
    length = len(text) if isinstance(text, str) else 0
    if length > LONGEST_DESCRIPTION and issubclass(visit.model, _DESCRIBED):
        yield (
            "description",
            f"has {length} characters; models accept up to {LONGEST_DESCRIPTION}. Shorten it.",
        )


_DESCRIBED = (Function, RestFunction, ClientTool, SimpleSchema, ObjectSchema, ArraySchema)


def large_parameters(visit: ShapeVisit) -> Iterator[tuple[str, str]]:
    told = visit.value.get("parameters")
    properties = told.get("properties") if isinstance(told, Mapping) else None
    if not issubclass(visit.model, _FUNCTIONS) or not isinstance(properties, Mapping):
        return
    size = sum(map(parameter_size, properties, properties.values()))
    if size > MOST_TOOL_CHARACTERS:
        yield (
            "parameters",
            f"has {size:,} characters, which are part of every request to the model; the recommended "
            f"limit is {MOST_TOOL_CHARACTERS:,}. Remove parameters that are not needed.",
        )


_FUNCTIONS = (Function, RestFunction, ClientTool)


def parameter_size(name: str, parameter: Any) -> int:
    """Return the number of characters that a parameter adds to each model request."""
    if isinstance(parameter, Mapping):
        parameter = {key: value for key, value in parameter.items() if key not in _UNSENT}
    return len(json.dumps({name: parameter}, ensure_ascii=False, default=str))


_UNSENT = frozenset({"parameter_info", "display"})


def unfit_defaults(visit: ShapeVisit) -> Iterator[tuple[str, str]]:
    default, kind = visit.value.get("default"), visit.value.get("type")
    if (
        default is None
        or not issubclass(visit.model, DisplayedParameter)
        or not isinstance(kind, str)
    ):
        return
    is_boolean = isinstance(default, bool)
    fits = isinstance(default, _VALUES.get(kind, object)) and is_boolean == (kind == "boolean")
    options = visit.value.get("enum")
    if not fits or (isinstance(options, list) and default not in options):
        yield "default", "does not fit the parameter, so calls without it are rejected. Correct it."


_VALUES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
}


def unused_instructions(visit: ShapeVisit) -> Iterator[tuple[str, str]]:
    if not issubclass(visit.model, Continue | Retry) or visit.value.get("trigger_on") is not None:
        return
    if visit.value.get("instructions") is not None:
        yield "instructions", "is ignored, because there is no `trigger_on`. Add one."


def empty_addresses(visit: ShapeVisit) -> Iterator[tuple[str, str]]:
    if not issubclass(visit.model, RestMethod):
        return
    address = visit.value.get("method_url")
    if isinstance(address, str) and not address.strip():
        yield "method_url", "is empty, so every call of the tool fails. Write the URL."


def gated_fields(visit: ShapeVisit) -> Iterator[tuple[str, str]]:
    if is_preview(visit.model):
        yield "", GATED
    for key, value in known_members(visit):
        if marks(visit.model, key).preview and value is not None:
            yield key, GATED


GATED = "is left out: it is a preview feature, and preview features are off in this installation"


RULES: tuple[Rule, ...] = (
    unknown_keys,
    deprecated_fields,
    long_descriptions,
    large_parameters,
    unfit_defaults,
    unused_instructions,
    empty_addresses,
)


def known_members(visit: ShapeVisit) -> Iterator[tuple[str, object]]:
    """Yield the members of an object that are fields of its model, in document order."""
    return (item for item in visit.value.items() if item[0] in visit.model.model_fields)
