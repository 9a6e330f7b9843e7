"""Constants of a manifest: put into every call, whatever the model wrote in their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from apps.manifest.parameters import (
    ArraySchema,
    ConstSchema,
    FunctionParameters,
    NestedSchema,
    ObjectSchema,
    RestFunctionParameters,
)

Inject = Callable[[Any], Any]
"""A value that matches its schema → the same with its constants."""


def injection(parameters: FunctionParameters | RestFunctionParameters) -> Inject:
    return into_object(parameters.properties)


def into_object(properties: Mapping[str, NestedSchema]) -> Inject:
    constants = {n: v.const for n, v in properties.items() if isinstance(v, ConstSchema)}
    nested = {n: into_value(v) for n, v in properties.items() if holds_constants(v)}
    if not constants and not nested:
        return unchanged

    def inject(value: Any) -> Any:
        changed = {name: nested[name](value[name]) for name in nested.keys() & value.keys()}
        return {**value, **changed, **constants}

    return inject


def into_value(schema: NestedSchema) -> Inject:
    if isinstance(schema, ConstSchema):
        return lambda value: schema.const
    if isinstance(schema, ObjectSchema):
        return into_object(schema.properties)
    if isinstance(schema, ArraySchema):
        inject = into_value(schema.items)
        return lambda value: [inject(item) for item in value]
    return unchanged


def holds_constants(schema: NestedSchema) -> bool:
    """Whether a constant is somewhere inside; a constant itself is its object's business."""
    if isinstance(schema, ArraySchema):
        return isinstance(schema.items, ConstSchema) or holds_constants(schema.items)
    if isinstance(schema, ObjectSchema):
        return any(
            isinstance(v, ConstSchema) or holds_constants(v) for v in schema.properties.values()
        )
    return False


def unchanged(value: Any) -> Any:
    return value
