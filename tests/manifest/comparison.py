"""Compare two JSON schemas by meaning, ignoring names of definitions, texts and order."""

from typing import Any

DEFINITION = "#/$defs/"
TEXTS = frozenset({"title", "description", "$defs", "$ref"})


class Comparison:
    """`differences` maps a location to the actual and the expected value. A location inside a
    definition is named after the expected side's definition, so each difference is reported once,
    however many references lead to it."""

    def __init__(self, schema: dict[str, Any], expected: dict[str, Any]) -> None:
        self.definitions = schema["$defs"]
        self.expected_definitions = expected["$defs"]
        self.seen: set[tuple[str, str]] = set()
        self.differences: dict[str, str] = {}
        self.compare("$", schema, expected)

    def compare(self, place: str, schema: Any, expected: Any) -> None:
        schema, name = resolved(schema, self.definitions)
        expected, expected_name = resolved(expected, self.expected_definitions)
        if expected_name:
            if (name, expected_name) in self.seen:
                return
            self.seen.add((name, expected_name))
            place = (
                expected_name
                if expected_name == shortened(expected_name)
                else shortened(expected_name)
            )
        for key in sorted((schema.keys() | expected.keys()) - TEXTS):
            self.compare_key(f"{place}.{key}", key, schema, expected)

    def compare_key(self, place: str, key: str, schema: Any, expected: Any) -> None:
        if key not in expected:
            self.differences[place] = f"ours only: {schema[key]!r}"
        elif key not in schema:
            self.differences[place] = f"theirs only: {expected[key]!r}"
        else:
            self.compare_value(place, key, schema[key], expected[key])

    def compare_value(self, place: str, key: str, value: Any, wanted: Any) -> None:
        if key in {"properties", "mapping"}:
            self.compare_members(place, value, wanted)
        elif key in {"oneOf", "anyOf"} and len(value) == len(wanted):
            for index, (one, other) in enumerate(zip(value, wanted, strict=True)):
                self.compare(f"{place}[{index}]", one, other)
        elif key in {"oneOf", "anyOf"}:
            self.differences[place] = f"{len(value)} kinds instead of {len(wanted)}"
        elif key in {"items", "additionalProperties", "discriminator"} and isinstance(value, dict):
            self.compare(place, value, wanted)
        elif plain(key, value) != plain(key, wanted):
            self.differences[place] = f"{value!r} instead of {wanted!r}"

    def compare_members(self, place: str, members: Any, wanted: Any) -> None:
        for name in sorted(members.keys() | wanted.keys()):
            if name not in wanted:
                self.differences[f"{place}.{name}"] = "ours only"
            elif name not in members:
                self.differences[f"{place}.{name}"] = "theirs only"
            else:
                self.compare(f"{place}.{name}", *map(schema_of, (members[name], wanted[name])))


def resolved(schema: Any, definitions: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return a schema with its reference resolved and merged with its siblings, and the reference's
    name. For a plain enumeration, the reference is ignored."""
    name = schema.get("$ref", "").removeprefix(DEFINITION)
    if not name:
        return schema, ""
    beside = {key: value for key, value in schema.items() if key != "$ref"}
    is_enumeration = "enum" in definitions[name]
    return {**definitions[name], **beside}, "" if is_enumeration or beside else name


def schema_of(value: Any) -> dict[str, Any]:
    return {"$ref": value} if isinstance(value, str) else value


def plain(key: str, value: Any) -> Any:
    """Return a value without order that has no meaning."""
    return sorted(value) if key in {"required", "enum"} else value


def shortened(name: str) -> str:
    """Shorten generated names of generic definitions, which are very long."""
    head, _, _ = name.partition("_RestApiEndpointObjectParam_")
    return name if head == name else f"{head}[Rest]"
