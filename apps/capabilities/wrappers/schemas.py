"""Parameters of a manifest, as the JSON Schema that the model is told. Constants stay hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from apps.manifest.parameters import (
    ArraySchema,
    ConstSchema,
    FunctionParameters,
    NestedSchema,
    ObjectSchema,
    RestFunctionParameters,
    SimpleSchema,
)


def schema_of(parameters: FunctionParameters | RestFunctionParameters) -> dict[str, Any]:
    """A schema of type object; `required` names only what the model can see."""
    schema = object_schema(parameters.properties, parameters.required)
    for name, parameter in parameters.properties.items():
        if name in schema["properties"] and parameter.default is not None:
            schema["properties"][name]["default"] = parameter.default
    return schema


def object_schema(
    properties: Mapping[str, NestedSchema], required: Sequence[str] | None
) -> dict[str, Any]:
    visible = {
        name: value_schema(value)
        for name, value in properties.items()
        if not isinstance(value, ConstSchema)
    }
    needed = [name for name in required or () if name in visible]
    return {"type": "object", "properties": visible, "required": needed}


def value_schema(value: NestedSchema) -> dict[str, Any]:
    if isinstance(value, ConstSchema):
        return {}
    schema: dict[str, Any]
    if isinstance(value, ObjectSchema):
        schema = object_schema(value.properties, value.required)
    elif isinstance(value, ArraySchema):
        schema = {"type": "array", "items": value_schema(value.items)}
    else:
        schema = simple_schema(value)
    if value.description is not None:
        schema["description"] = value.description
    return schema


def simple_schema(value: SimpleSchema) -> dict[str, Any]:
    if value.enum is None:
        return {"type": value.type}
    return {"type": value.type, "enum": list(value.enum)}
