"""Random documents that a JSON schema accepts, drawn by walking it.

Rules that only code checks are satisfied; they have their own tests.
"""

import itertools
from typing import Any

from hypothesis import strategies as st

DEFINITION = "#/$defs/"
Schema = dict[str, Any]

texts = st.text(st.characters(codec="utf-8", categories=["L", "N", "P"]), max_size=6)
free = st.dictionaries(
    texts.filter(lambda key: key != "type" and "$" not in key), texts, max_size=2
)


def variations(schema: Schema) -> st.SearchStrategy[Schema]:
    return st.composite(lambda draw: Variation(draw, schema["$defs"]).of(schema, 0))()


class Variation:
    """Draw one document. Optional members are rarer at greater depth, so that it ends."""

    def __init__(self, draw: Any, definitions: dict[str, Schema]) -> None:
        self.draw = draw
        self.definitions = definitions
        self.numbers = itertools.count()

    def of(self, schema: Schema, depth: int) -> Any:
        if "$ref" in schema:
            return self.of(self.definitions[schema["$ref"].removeprefix(DEFINITION)], depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.draw(st.sampled_from(schema["enum"]))
        choices = schema.get("oneOf") or (schema.get("anyOf") if "type" not in schema else None)
        if choices:
            return self.of(self.chosen(choices, depth), depth)
        return self.typed(schema, depth)

    def chosen(self, choices: list[Schema], depth: int) -> Schema:
        # In a circular schema, the first alternative is a scalar or the smallest one.
        return choices[0] if depth > 14 else self.draw(st.sampled_from(choices))

    def typed(self, schema: Schema, depth: int) -> Any:
        match schema.get("type", ""):
            case "object":
                return self.object(schema, depth)
            case "array":
                least = schema.get("minItems", 0)
                count = least if depth > 12 else self.draw(st.integers(least, least + 3))
                items = [self.of(schema.get("items", {}), depth + 1) for _ in range(count)]
                return sorted(set(items)) if schema.get("uniqueItems") else items
            case "string":
                return self.draw(texts) or "x" * schema.get("minLength", 0)
            case "boolean":
                return self.draw(st.booleans())
            case "null":
                return None
            case "integer":
                return self.draw(st.integers(*bounds(schema)))
            case "number":
                low, high = bounds(schema)
                return self.draw(st.floats(low, high, allow_nan=False, allow_infinity=False))
            case _:
                return self.draw(texts | st.none() | st.integers(-5, 5) | free)

    def object(self, schema: Schema, depth: int) -> dict[str, Any]:
        if "properties" not in schema:
            return self.map(schema, depth)
        required = {*schema.get("required", ())}
        if "anyOf" in schema:
            required |= {*self.draw(st.sampled_from(schema["anyOf"]))["required"]}
        if "type" in schema["properties"]:
            required.add("type")
        members = {
            name: self.of(value, depth + 1)
            for name, value in schema["properties"].items()
            if name in required or self.draw(st.integers(0, min(depth, 3))) == 0
        }
        return self.mended(members)

    def map(self, schema: Schema, depth: int) -> dict[str, Any]:
        inner = schema.get("additionalProperties")
        if not isinstance(inner, dict):
            members: dict[str, Any] = self.draw(free)
            return members
        count = 0 if depth > 12 else self.draw(st.integers(0, 2))
        return {self.draw(texts): self.of(inner, depth + 1) for _ in range(count)}

    def mended(self, members: dict[str, Any]) -> dict[str, Any]:
        """Change a document to satisfy the rules that only code checks."""
        if members.get("type") == "folder":
            members["url"] += "/"
        if "agent_home_dir" in members:
            members["agent_home_dir"] = self.draw(st.sampled_from(["", "notes/", "a/b/"]))
        for name in ("deployment_id", "dial_id", "name"):
            if name in members and isinstance(members[name], str):
                members[name] = f"{members[name]}{next(self.numbers)}"
        if members.get("event") == "on_completion":
            members.pop("frequency", None)
            members.pop("refresh_condition", None)
        return members


def bounds(schema: Schema) -> tuple[int, int]:
    low: Any = schema.get("minimum", schema.get("exclusiveMinimum", -100_000))
    return low + ("exclusiveMinimum" in schema), schema.get("maximum", 100_000)
