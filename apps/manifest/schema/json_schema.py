"""Generates JSON schemas from models, and edits them."""

import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

Schema = dict[str, Any]

DEFINITION = "#/$defs/"


class Generator(GenerateJsonSchema):
    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        # JSON Schema cannot express a discriminator that is a function. DIAL's editors expect
        # "None" in place of a null tag.
        result = super().tagged_union_schema(schema)
        if callable(schema["discriminator"]):
            result["anyOf"] = result.pop("oneOf")
        mapping = result.get("discriminator", {}).get("mapping", {})
        if "null" in mapping:
            mapping["None"] = mapping.pop("null")
        return result


def subschemas(schema: Schema) -> Iterator[Schema]:
    for key in ("properties", "$defs"):
        yield from schema.get(key, {}).values()
    for key in ("oneOf", "anyOf"):
        yield from schema.get(key, ())
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield schema[key]


def drop_required(schema: Schema, names: set[str]) -> None:
    """Remove the names from the schema's `required`, and `required` itself if it becomes empty."""
    required = [name for name in schema.get("required", ()) if name not in names]
    schema.pop("required", None)
    if required:
        schema["required"] = required


def reachable(schema: object, definitions: dict[str, Schema]) -> set[str]:
    """Return the names of the definitions to which a schema refers, directly or indirectly."""
    used: set[str] = set()
    rest = list(references(schema))
    while rest:
        name = rest.pop()
        if name not in used:
            used.add(name)
            rest += references(definitions[name])
    return used


def references(schema: object) -> list[str]:
    """Return the names of the definitions to which a schema refers directly."""
    return re.findall(rf'"{re.escape(DEFINITION)}([^"]+)"', json.dumps(schema))
