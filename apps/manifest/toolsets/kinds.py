"""Collects the kinds of toolset from the modules in `apps.manifest.kinds`."""

from collections.abc import Iterator, Mapping
from functools import reduce
from importlib import import_module
from operator import or_
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pydantic import Field

from apps.manifest import kinds
from apps.manifest.kinds.predefined import PredefinedToolSet
from apps.manifest.shapes import Choice, shape_of
from apps.manifest.toolsets.shared_fields import ToolSetFields, WrittenToolSet

Schema = type[ToolSetFields] | type[PredefinedToolSet]


def schemas_in(package: ModuleType) -> Iterator[Schema]:
    """Yield the models in the package that define a `Kind`. Raises `TypeError` if a module has
    none.
    """
    for found in iter_modules(package.__path__, f"{package.__name__}."):
        members = vars(import_module(found.name)).values()
        own = [one for one in members if isinstance(one, type) and one.__module__ == found.name]
        schemas = [one for one in own if "kind" in vars(one)]
        if not schemas:
            raise TypeError(f"{found.name} has no toolset with a `kind`: add `kind = Kind(…)`.")
        yield from schemas


def by_type(schemas: Iterator[Schema]) -> dict[str, Schema]:
    """Return the models by `type`. Raises `TypeError` if a type is missing or repeated."""
    found: dict[str, Schema] = {}
    for schema in sorted(schemas, key=lambda schema: schema.kind.order):
        name = schema.model_fields["type"].default
        if not isinstance(name, str):
            raise TypeError(f'{schema.__name__}.type has no default: write `= "…"` after it.')
        if name in found:
            taken = found[name].__name__
            raise TypeError(
                f"{schema.__name__} and {taken} have the same type, {name!r}; rename one."
            )
        found[name] = schema
    return found


KINDS: Mapping[str, Schema] = by_type(schemas_in(kinds))
"""Maps each `type` of toolset to its model, sorted by `Kind.order`."""

WRITTEN = tuple(one for one in KINDS.values() if issubclass(one, WrittenToolSet))
"""The kinds of toolset whose tools the manifest defines."""

if TYPE_CHECKING:
    ToolSet = ToolSetFields | PredefinedToolSet
else:
    ToolSet = Annotated[reduce(or_, KINDS.values()), Field(discriminator="type")]


def tool_of(schema: type[WrittenToolSet]) -> Any:
    """Return the type annotation of a toolset's `tools`."""
    return get_args(schema.model_fields["tools"].annotation)[0]


def tool_types(schema: type[WrittenToolSet]) -> tuple[str, ...]:
    """Return the valid `type`s of a toolset's tools, except that of predefined tools. The type of
    fully defined tools comes first.
    """
    shape = shape_of(tool_of(schema))
    names = map(str, shape.models) if isinstance(shape, Choice) else ()
    return tuple(name for name in names if name != "predefined-tool")
