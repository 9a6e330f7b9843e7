"""Writes the rows of one table in the manifest reference."""

import json
import re
from collections.abc import Container, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from apps.manifest.nodes import Node, marks
from apps.manifest.schema.json_schema import DEFINITION, Generator, Schema

Model = type[BaseModel]
Anchors = Mapping[str, str]
"""Maps model names to the anchors of their tables in the document."""

LIMITS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "minLength": "at least {} character",
    "minItems": "at least {} item",
}


def table_of(model: Model, name: str, anchors: Anchors) -> str | None:
    """Return the name of the model whose table contains the field, or None if no table does. Among
    the models with a table, this is the one closest to the definition of the field.
    """
    lineage = model.__mro__
    origin = next(base for base in lineage if name in vars(base).get("__annotations__", ()))
    having = (base.__name__ for base in reversed(lineage) if issubclass(base, origin))
    return next((base for base in having if base in anchors), None)


class TableRows:
    """Iterates over the rows of a model's table, as Markdown."""

    def __init__(
        self, model: Model, anchors: Anchors, models: Mapping[str, Model], kinds: Container[str]
    ) -> None:
        self.model = model
        self.anchors = anchors
        self.models = models
        self.is_kind = model.__name__ in kinds
        schema = model.model_json_schema(schema_generator=Generator)
        self.definitions: dict[str, Schema] = schema.get("$defs", {})
        # A recursive model is written as a reference.
        self.schema = self.definitions[model.__name__] if "$ref" in schema else schema

    def __iter__(self) -> Iterator[str]:
        for name, schema in self.schema.get("properties", {}).items():
            if table_of(self.model, name, self.anchors) == self.model.__name__:
                cells = (self.name(name), self.kind(schema), self.default(name), self.text(name))
                yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"

    def name(self, name: str) -> str:
        mark = marks(self.model, name)
        states = [state for state in ("preview", "deprecated") if getattr(mark, state)]
        return " ".join([f"`{name}`", *(f"*{state}*" for state in states)])

    def text(self, name: str) -> str:
        mark = marks(self.model, name)
        state = "Deprecated." if mark.deprecated else ""
        description = " ".join((self.model.model_fields[name].description or "").split())
        return " ".join(filter(None, (description, state, mark.advice)))

    def default(self, name: str) -> str:
        """Return the default of a field as Markdown, or "" if its description already explains it."""
        schema = self.schema["properties"][name]
        # If either of two names is required, the older one is deprecated.
        needed = [self.schema, *self.schema.get("anyOf", ())]
        is_needed = any(name in one.get("required", ()) for one in needed)
        is_tag = self.is_kind and name == "type"
        if is_tag or (is_needed and not marks(self.model, name).deprecated):
            return "*required*"
        if "default" in schema:
            return code(schema["default"])
        value = self.model.model_fields[name].get_default(call_default_factory=True)
        if isinstance(value, Node) or value == {}:
            return "`{}`"
        return "`[]`" if value in ((), frozenset()) else ""

    def kind(self, schema: Schema) -> str:
        return alternatives(list(dict.fromkeys(self.kinds(schema))))

    def kinds(self, schema: Schema) -> list[str]:
        if choices := schema.get("oneOf") or schema.get("anyOf"):
            targets = {self.anchor(choice["$ref"]) for choice in choices if "$ref" in choice}
            if len(targets) == 1 and all("$ref" in choice for choice in choices):
                return [f"[object](#{targets.pop()})"]
            return [kind for choice in choices for kind in self.kinds(choice)]
        if "$ref" in schema:
            return [self.link(schema["$ref"])]
        if "const" in schema or "enum" in schema:
            return [code(value) for value in schema.get("enum", [schema.get("const")])]
        if schema.get("x-credential"):
            return ["string", "[secret](secrets.md)"]
        return [f"{self.plain(schema)}{limits(schema)}"]

    def plain(self, schema: Schema) -> str:
        """Return the type of a field whose value is not a model."""
        if isinstance(items := schema.get("items"), dict):
            return f"list of {plural(self.kind(items))}"
        if isinstance(values := schema.get("additionalProperties"), dict):
            return f"object with {self.kind(values)} values"
        return str(schema.get("type", "any value"))

    def link(self, reference: str) -> str:
        """Return a link to a model's table. Its text is the `type` that selects the model, if any."""
        tag = self.definitions[referenced_name(reference)]["properties"].get("type", {})
        is_kind = isinstance(tag.get("const"), str) and tag["const"] not in {"object", "function"}
        text = f"`{tag['const']}`" if is_kind else "object"
        return f"[{text}](#{self.anchor(reference)})"

    def anchor(self, reference: str) -> str:
        lineage = self.models[referenced_name(reference)].__mro__
        return next(self.anchors[b.__name__] for b in lineage if b.__name__ in self.anchors)


def referenced_name(reference: str) -> str:
    return reference.removeprefix(DEFINITION)


def plural(kind: str) -> str:
    kind = kind.replace("[object]", "[objects]").replace("(at least", "(each at least")
    return re.sub(r"^(string|object)\b", r"\1s", kind)


def alternatives(texts: list[str]) -> str:
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} or {texts[-1]}"


def limits(schema: Schema) -> str:
    if "minimum" in schema and "maximum" in schema:
        return f" ({schema['minimum']:.12g} to {schema['maximum']:.12g})"
    texts = [text.format(f"{schema[key]:.12g}") for key, text in LIMITS.items() if key in schema]
    return f" ({', '.join(texts)})" if texts else ""


def code(value: Any) -> str:
    return f"`{json.dumps(value, ensure_ascii=False)}`"
