"""Separates tool parameters into a JSON Schema for the model and constants that it does not see."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from apps.manifest.toolsets.parameters import (
    ArraySchema,
    ConstSchema,
    FunctionParameters,
    NestedSchema,
    ObjectSchema,
)
from apps.manifest.toolsets.rest_parameters import RestFunctionParameters

Inject = Callable[[Any], Any]
"""A function that adds the constant parameters to an argument value."""


def parameters_schema(parameters: FunctionParameters | RestFunctionParameters) -> dict[str, Any]:
    """Return the JSON Schema of the parameters that the model sees."""
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
    schema: dict[str, Any]
    match value:
        case ConstSchema():
            return {}
        case ObjectSchema():
            schema = object_schema(value.properties, value.required)
        case ArraySchema():
            schema = {"type": "array", "items": value_schema(value.items)}
        case _:
            schema = {"type": value.type}
            if value.enum is not None:
                schema["enum"] = list(value.enum)
    if value.description is not None:
        schema["description"] = value.description
    return schema


def object_with_constants(properties: Mapping[str, NestedSchema], value: Any) -> dict[str, Any]:
    changed = {
        name: with_constants(schema, value.get(name))
        for name, schema in properties.items()
        if name in value or isinstance(schema, ConstSchema)
    }
    return {**value, **changed}


def with_constants(schema: NestedSchema, value: Any) -> Any:
    match schema:
        case ConstSchema():
            return schema.const
        case ObjectSchema():
            return object_with_constants(schema.properties, value)
        case ArraySchema():
            return [with_constants(schema.items, item) for item in value]
        case _:
            return value


def keep_value(value: Any) -> Any:
    return value
