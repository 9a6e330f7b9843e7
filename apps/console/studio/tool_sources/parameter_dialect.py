"""Converts JSON schemas in OpenAPI documents to the subset that tools in manifests support."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.console.studio.tool_sources.references import References
from apps.manifest.validation.warnings import LONGEST_DESCRIPTION, MOST_TOOL_CHARACTERS

LONGEST_DEFAULT = 1_024
"""The maximum length of a default as JSON. Longer defaults are omitted; the service applies them.
"""
DEEPEST = 6
"""The maximum nesting depth of a parameter's schema. The schema allows any value below this
depth.
"""
DEPTHS = (DEEPEST, 4, 3, 2, 1, 0)
"""Limits for the nesting depth, tried in this order until the tool's schema is small enough."""
PART_CHARACTERS = 40
"""The approximate number of characters in one subschema, without its name and description."""
MOST_PARTS = 400_000
"""The maximum number of subschemas in a document. Nested values beyond this limit are not
described.

Without this limit, nested references in a short document could expand to any number of subschemas.
"""
SIMPLE = ("string", "integer", "number", "boolean")
MOST_CHOICES = 200
CHOICES_NAMED = 5
CHOICE_CHARACTERS = 40


class ToolTooLarge(Exception):
    """The tool's schema exceeds `MOST_TOOL_CHARACTERS`."""


@dataclass(slots=True)
class ParameterReader:
    """Converts the schemas in one document."""

    references: References
    parts: int = 0
    """The number of subschemas that have been converted so far."""
    left: int = MOST_TOOL_CHARACTERS
    """The approximate number of characters that the current tool's schema may still use."""
    deepest: int = DEEPEST
    """The limit for the nesting depth of the current tool's schema."""

    def begin_tool(self, deepest: int) -> None:
        self.left, self.deepest = MOST_TOOL_CHARACTERS, deepest

    def parameter(self, schema: Any, location: str, description: str = "") -> dict[str, Any]:
        """Convert the schema of a parameter. Raises `SourceInvalid` if it is invalid, and
        `ToolTooLarge` if the tool exceeds the maximum size.
        """
        found = self.written(schema, location, frozenset(), 0)
        read, _ = self.merged(schema, location, frozenset())
        own = description_or_default(description)
        if own and found["type"] in SIMPLE:
            own = with_choices(own, read.get("enum"))
        if words := own or found.get("description", ""):
            found["description"] = words
        default = read.get("default")
        if (
            default is not None
            and fits(default, found)
            and len(as_json(default)) <= LONGEST_DEFAULT
        ):
            found["default"] = default
        return found

    def written(
        self, schema: Any, location: str, above: frozenset[str], depth: int
    ) -> dict[str, Any]:
        read, above = self.merged(schema, location, above)
        words = description_or_default(read.get("description") or read.get("title"))
        self.count(location, words)
        kind = schema_type(read)
        if kind in SIMPLE:
            choices = read.get("enum")
            if "const" in read:
                choices = [read["const"]]
            words = with_choices(words, choices)
            named = {"description": words} if words else {}
            usable = isinstance(choices, list) and 0 < len(choices) <= MOST_CHOICES
            chosen = [one for one in choices or () if one is not None] if usable else []
            return {"type": kind, **named, **({"enum": chosen} if chosen else {})}
        is_open = depth >= self.deepest or self.parts > MOST_PARTS
        if kind == "array":
            inside = {} if is_open else read.get("items", {})
            items = self.written(inside, f"{location}.items", above, depth + 1)
            return {"type": "array", "items": items, "description": words or "A list."}
        return self.written_object(read, location, above, depth, words, is_open=is_open)

    def count(self, location: str, words: str) -> None:
        """Subtract the size of a subschema from `left`. Raises `ToolTooLarge` if nothing is left,
        except at depth 0.
        """
        self.parts += 1
        self.left -= PART_CHARACTERS + len(words) + len(location.rpartition(".")[2])
        if self.left < 0 and self.deepest > DEPTHS[-1]:
            raise ToolTooLarge

    def written_object(
        self,
        read: Mapping[str, Any],
        location: str,
        above: frozenset[str],
        depth: int,
        words: str,
        *,
        is_open: bool,
    ) -> dict[str, Any]:
        fields = {} if is_open else parameter_fields(read)
        properties = {
            str(name): self.written(part, f"{location}.properties.{name}", above, depth + 1)
            for name, part in fields.items()
            if not is_read_only(part)
        }
        found = {"type": "object", "properties": properties, "description": words or "An object."}
        if required := [name for name in list_names(read.get("required")) if name in properties]:
            found["required"] = required
        return found

    def merged(
        self, schema: Any, location: str, above: frozenset[str]
    ) -> tuple[dict[str, Any], frozenset[str]]:
        """Merge a schema with its reference, its `allOf`, and the first option of its `oneOf` or
        `anyOf`. Also return all references that were followed.

        A circular reference becomes a schema that allows anything.
        """
        if schema is True or schema is False or schema is None:
            return {}, above
        read, hops = self.references.follow(schema, location)
        if not above.isdisjoint(hops):
            kind = "array" if schema_type(read) == "array" else "object"
            return {"type": kind, "description": read.get("description")}, above
        above = above.union(hops)
        for part in list_or_empty(read.get("allOf")):
            inner, above = self.merged(part, f"{location}.allOf", above)
            read = together(inner, read)
        choices = [
            one
            for one in (*list_or_empty(read.get("oneOf")), *list_or_empty(read.get("anyOf")))
            if not (isinstance(one, dict) and one.get("type") == "null")
        ]
        if choices and "type" not in read and "properties" not in read:
            inner, above = self.merged(choices[0], f"{location}.oneOf", above)
            read = together(inner, read)
        return read, above


def with_choices(words: str, choices: Any) -> str:
    """Return the description. Append some of the choices if there are too many for an `enum`."""
    if not isinstance(choices, list) or len(choices) <= MOST_CHOICES:
        return words
    first = ", ".join(str(one)[:CHOICE_CHARACTERS] for one in choices[:CHOICES_NAMED])
    note = f"One of {len(choices):,} values, such as {first}."
    return f"{words[: LONGEST_DESCRIPTION - len(note) - 1]} {note}".strip()


def together(inner: Mapping[str, Any], outer: Mapping[str, Any]) -> dict[str, Any]:
    found = {**inner, **{key: value for key, value in outer.items() if value is not None}}
    found["properties"] = {**parameter_fields(inner), **parameter_fields(outer)}
    found["required"] = [*list_names(inner.get("required")), *list_names(outer.get("required"))]
    return {key: value for key, value in found.items() if value not in ({}, [])}


def schema_type(read: Mapping[str, Any]) -> str:
    kind = read.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), None)
    if isinstance(kind, str) and kind in KINDS:
        return kind
    if "properties" in read or "additionalProperties" in read:
        return "object"
    if "items" in read:
        return "array"
    choices = read.get("enum")
    if isinstance(choices, list) and choices and isinstance(choices[0], bool | int | float):
        return "boolean" if isinstance(choices[0], bool) else "number"
    return "string"


KINDS: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def fits(default: Any, parameter: Mapping[str, Any]) -> bool:
    kind = parameter["type"]
    is_bool = isinstance(default, bool)
    is_one = isinstance(default, KINDS[kind]) and is_bool == (kind == "boolean")
    return is_one and default in parameter.get("enum", (default,))


def description_or_default(text: Any) -> str:
    words = text.strip() if isinstance(text, str) else ""
    return words if len(words) <= LONGEST_DESCRIPTION else f"{words[: LONGEST_DESCRIPTION - 1]}…"


def parameter_fields(read: Mapping[str, Any]) -> dict[str, Any]:
    found = read.get("properties")
    return found if isinstance(found, dict) else {}


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def is_read_only(part: Any) -> bool:
    return isinstance(part, dict) and part.get("readOnly") is True


def list_or_empty(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def list_names(value: Any) -> list[str]:
    return [name for name in list_or_empty(value) if isinstance(name, str)]
