"""Builds REST tools for a manifest from descriptions of operations."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.manifest.names import sanitize

LONGEST_FUNCTION = 48
"""A function name has at most this many characters. The toolset's name precedes it, and providers
accept 64 in total.
"""


@dataclass(frozen=True, slots=True)
class RestParameter:
    """A parameter of a REST tool. `key` is the name that the service expects, and `where` is query,
    url, body or header.
    """

    key: str
    where: str
    schema: Mapping[str, Any] = field(repr=False)
    is_required: bool = False

    def written(self) -> dict[str, Any]:
        place = {"type": self.where, "key": self.key}
        if self.schema["type"] in {"array", "object"} and self.where == "body":
            place["encoding"] = "json"
        return {**self.schema, "parameter_info": place}


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


def function_name(text: str, taken: Collection[str]) -> str:
    """Return a valid function name that is not in `taken`, such as `findPets` or `findPets_2`."""
    words = "_".join(filter(None, sanitize(text).split("_")))[:LONGEST_FUNCTION].strip("_-")
    return unique(words or "tool", taken)


def unique(name: str, taken: Collection[str], suffix: str = "") -> str:
    if name not in taken:
        return name
    first = f"{name}_{suffix}"
    if suffix and first not in taken:
        return first
    return next(
        found for number in range(2, len(taken) + 3) if (found := f"{name}_{number}") not in taken
    )
