"""What a tool wants to be called with, read off its JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.agent.tools import ToolSpec
from apps.workspace.demo.clues import Kind

DEEPEST_REFERENCE = 10
DESCRIPTION_START = 60
"""Characters in which a description says what a parameter is."""

_zone_names = re.compile(r"time_?zone|(^|_)tz($|_)|zone_?id", re.IGNORECASE)
_place_names = re.compile(
    r"city|place|location|town|country|region|address|destination|origin|capital|where",
    re.IGNORECASE,
)
_FORMATS: dict[str, Kind] = {
    "date": "date",
    "date-time": "date",
    "uri": "url",
    "url": "url",
    "email": "email",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """`wants` are kinds of clues, the best first; text that fits nothing else wants "quoted"."""

    name: str
    type: str
    schema: Mapping[str, Any]
    is_required: bool
    wants: tuple[Kind, ...]

    @property
    def takes_any_text(self) -> bool:
        return self.type == "string" and self.wants[:1] == ("quoted",)


def parameters_of(spec: ToolSpec) -> list[Parameter]:
    return read_object(spec.parameters, spec.parameters)


def read_object(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[Parameter]:
    """The properties of an object's schema, required ones first."""
    properties = schema.get("properties")
    required = schema.get("required")
    if not isinstance(properties, Mapping):
        return []
    needed = required if isinstance(required, list | tuple) else ()
    found = [
        read_parameter(str(name), plain(written, root), name in needed)
        for name, written in properties.items()
    ]
    return sorted(found, key=lambda parameter: not parameter.is_required)


def read_parameter(name: str, schema: Mapping[str, Any], is_required: bool) -> Parameter:
    kind = schema.get("type")
    if not isinstance(kind, str):
        kind = "string"
    return Parameter(name, kind, schema, is_required, wishes(name, kind, schema))


def plain(written: object, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema behind a reference, and of alternatives the first that is not null."""
    for _ in range(DEEPEST_REFERENCE):
        if not isinstance(written, Mapping):
            return {}
        if isinstance(written.get("$ref"), str):
            written = referred(written["$ref"], root)
        elif isinstance(options := written.get("anyOf") or written.get("oneOf"), list):
            written = next((o for o in options if not is_null(o)), {})
        elif isinstance(kinds := written.get("type"), list):
            kind = next((kind for kind in kinds if kind != "null"), "string")
            return {**written, "type": kind}
        else:
            return written
    return {}


def is_null(schema: object) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "null"


def referred(reference: str, root: Mapping[str, Any]) -> object:
    """What a reference inside of the same schema means; nothing for any other."""
    found: object = root
    for part in filter(None, reference.removeprefix("#").split("/")):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def wishes(name: str, kind: str, schema: Mapping[str, Any]) -> tuple[Kind, ...]:
    if kind in ("integer", "number"):
        return ("number",)
    if kind == "array":
        items = schema.get("items")
        if not isinstance(items, Mapping):
            return ("quoted", "place")
        return wishes(name, str(items.get("type", "string")), items)
    if kind != "string" or "enum" in schema or "const" in schema:
        return ()
    return text_wishes(name, schema)


def text_wishes(name: str, schema: Mapping[str, Any]) -> tuple[Kind, ...]:
    if schema.get("format") in _FORMATS:
        return (_FORMATS[schema["format"]],)
    description = str(schema.get("description", ""))
    if _zone_names.search(name) or "IANA" in description:
        return ("zone", "place")
    if _place_names.search(name):
        return ("place", "quoted")
    for word, kind in (("url", "url"), ("link", "url"), ("date", "date"), ("email", "email")):
        if word in name.lower():
            return (kind,)  # type: ignore[return-value]  # the literals are in the line above
    if _place_names.search(description[:DESCRIPTION_START]):
        return ("place", "quoted")
    return ("quoted",)
