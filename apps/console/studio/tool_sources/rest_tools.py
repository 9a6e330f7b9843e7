"""Builds REST tools for a manifest from descriptions of operations."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.manifest.names import sanitize

LONGEST_FUNCTION = 48
"""The maximum length of a function name. Providers accept 64 characters, including the toolset's
name as a prefix.
"""


@dataclass(frozen=True, slots=True)
class RestParameter:
    key: str
    """The parameter's name, as the service expects it."""
    where: str
    """The location of the parameter: `query`, `url`, `body` or `header`."""
    schema: Mapping[str, Any] = field(repr=False)
    is_required: bool = False

    def written(self) -> dict[str, Any]:
        info = {"type": self.where, "key": self.key}
        if self.schema["type"] in {"array", "object"} and self.where == "body":
            info["encoding"] = "json"
        return {**self.schema, "parameter_info": info}


def rest_tool(
    name: str, description: str, method: str, url: str, parameters: Sequence[RestParameter]
) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter in parameters:
        own = unique(sanitize(parameter.key), properties, suffix=parameter.where)
        properties[own] = parameter.written()
        if parameter.is_required:
            required.append(own)
    function: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        function["required"] = required
    told = {"name": name, "description": description, "parameters": function}
    return {
        "type": "restapi-tool",
        "open_ai_tool": {"type": "function", "function": told},
        "rest_api_method_info": {"method_url": url, "method_type": method},
    }


def function_name(text: str, used_names: Collection[str]) -> str:
    """Return a valid and unused function name, such as `findPets` or `findPets_2`."""
    words = "_".join(filter(None, sanitize(text).split("_")))[:LONGEST_FUNCTION].strip("_-")
    return unique(words or "tool", used_names)


def unique(name: str, used_names: Collection[str], suffix: str = "") -> str:
    if name not in used_names:
        return name
    first = f"{name}_{suffix}"
    if suffix and first not in used_names:
        return first
    return next(
        found
        for number in range(2, len(used_names) + 3)
        if (found := f"{name}_{number}") not in used_names
    )
