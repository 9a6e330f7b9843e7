"""Adapts the JSON schema of manifests for the manifest editor's form.

The form's schema has no bounds, because the server validates them. It has neither nulls nor
Markdown, which the form does not support. A union by `type` becomes a choice with a hidden `type`,
plus a choice for types that are unknown to the form.
"""

import re
from typing import Any

Schema = dict[str, Any]

KEPT = ("title", "description", "properties", "items", "enum", "const", "type", "$ref", "readOnly")
LONG_TEXTS = frozenset({"content", "description", "system_prompt", "instructions", "intro_text"})
SHOWN = frozenset(
    {"content", "deployment_id", "description", "name", "system_prompt", "type", "url"}
)
"""The optional properties that the form always shows."""

FIRST = ("name", "deployment_id", "url", "deployment", "system_prompt", "description", "content")
WORDS = {"string": "text", "object": "list of texts", "array": "list", "boolean": "yes or no"}


def form_schema(schema: Schema) -> Schema:
    definitions: dict[str, Schema] = schema.get("$defs", {})
    rewriter = Rewriter(definitions)
    return {
        **rewriter.rewrite(schema, ""),
        "title": "Manifest",
        "definitions": {name: rewriter.rewrite(value, "") for name, value in definitions.items()},
    }


class Rewriter:
    def __init__(self, definitions: dict[str, Schema]) -> None:
        self.definitions = definitions

    def rewrite(self, schema: Schema, name: str) -> Schema:
        choices = [choice for choice in options(schema) if choice.get("type") != "null"]
        if len(choices) == 1:
            beside: Schema = {key: schema[key] for key in ("title", "description") if key in schema}
            return self.rewrite({**choices[0], **beside}, name)
        if choices:
            return self.choice(schema, choices)
        return self.plain(schema, name)

    def plain(self, schema: Schema, name: str) -> Schema:
        kept = {key: schema[key] for key in KEPT if key in schema}
        if "$ref" in kept:
            kept["$ref"] = kept["$ref"].replace("#/$defs/", "#/definitions/")
        if "title" in kept:
            kept["title"] = split_words(kept["title"])
        if "description" in kept:
            kept["description"] = without_marks(kept["description"])
        if "properties" in kept:
            self.fill_object(kept, schema)
        elif kept.get("type") == "object":
            kept["additionalProperties"] = self.additional(schema)
        if "items" in kept:
            kept["items"] = self.rewrite(kept["items"], "")
        if kept.get("type") == "string" and name in LONG_TEXTS and "enum" not in kept:
            kept["format"] = "textarea"
        return kept

    def fill_object(self, kept: Schema, schema: Schema) -> None:
        properties: dict[str, Schema] = schema["properties"]
        kept["type"] = "object"
        kept["properties"] = {
            key: {"title": split_words(key), **self.rewrite(value, key)}
            for key, value in properties.items()
            if not value.get("deprecated")
        }
        hide_tag(kept["properties"])
        required = set(schema.get("required", ()))
        kept["options"] = {"disable_collapse": True}
        for order, key in enumerate(FIRST):
            if key in kept["properties"]:
                kept["properties"][key]["propertyOrder"] = order
        kept["required"] = [key for key in kept["properties"] if key in required | SHOWN]

    def additional(self, schema: Schema) -> Any:
        inner = schema.get("additionalProperties", True)
        return self.rewrite(inner, "") if isinstance(inner, dict) and inner else True

    def choice(self, schema: Schema, choices: list[Schema]) -> Schema:
        about = schema.get("description", "")
        variants = [self.variant(choice, about) for choice in choices]
        if any("tags" in variant for variant in variants):
            variants.append(UNKNOWN)
        kept: Schema = {"title": split_words(schema["title"])} if "title" in schema else {}
        return {**kept, "oneOf": variants}

    def variant(self, choice: Schema, about: str) -> Schema:
        """Return one choice of a union, with its possible values of `type` as `tags`.

        Adds the union's description `about`, because the form shows only the choice's description.
        """
        written = self.rewrite(choice, "")
        name = choice.get("$ref", "").rpartition("/")[2]
        own = self.definitions.get(name, {}).get("description", "")
        if about or own:
            written["description"] = without_marks(f"{about} {own}".strip())
        tags = tags_of(self.definitions.get(name, {}))
        if tags:
            return {
                **written,
                "title": ", ".join(split_words(str(tag)) for tag in tags),
                "tags": tags,
            }
        kind = str(choice.get("type", "value"))
        return {**written, "title": split_words(name) if name else WORDS.get(kind, kind)}


ABBREVIATIONS = {
    **{name.lower(): name for name in ("A2A", "API", "DIAL", "ID", "IDs", "JSON", "MCP", "REST")},
    **{name.lower(): name for name in ("TTL", "URI", "URL", "URLs", "OAuth")},
}
ABBREVIATIONS |= {name[:1].upper() + name[1:]: full for name, full in ABBREVIATIONS.items()}
_abbreviation = re.compile(rf"\b(?:{'|'.join(ABBREVIATIONS)})\b")
_between_words = re.compile(
    r"[\s_-]+|(?<=[a-z\d])(?=[A-Z])(?<!O(?=Auth))(?<!A2(?=A))|(?:(?<=OAuth)|(?<=A2A))(?=[A-Z])"
)
_setting = re.compile(r"\s\(`[A-Z_]+`\)")
_marked = re.compile(r"`([^`]+)`|\*\*(.+?)\*\*")


def without_marks(text: str) -> str:
    """Remove Markdown, which the form does not render, and the names of settings in parentheses."""
    return _marked.sub(lambda found: found[1] or found[2], _setting.sub("", text))


def tags_of(definition: Schema) -> list[Any]:
    tag = definition.get("properties", {}).get("type", {})
    return [tag["const"]] if "const" in tag else tag.get("enum", [])


def hide_tag(properties: dict[str, Schema]) -> None:
    if "const" not in properties.get("type", {}):
        return
    tag = properties["type"]["const"]
    kind = {"type": "null"} if tag is None else {"type": "string", "enum": [tag]}
    properties["type"] = {**kind, "options": {"hidden": True}}


UNKNOWN: Schema = {
    "title": "another kind; edit it as text",
    "type": "object",
    "properties": {},
    "options": {"unknown": True},
}


def options(schema: Schema) -> list[Schema]:
    found = schema.get("oneOf") or schema.get("anyOf") or []
    # If the alternatives are lists of required names, the union is a rule, not a choice.
    return [option for option in found if set(option) - {"required"}]


def split_words(name: str) -> str:
    """Return a name such as `RestToolSet`, `tool_sets` or `dial-deployment` in words, such as "REST
    tool set".
    """
    words = _between_words.sub(" ", name).strip().lower()
    return _abbreviation.sub(lambda found: ABBREVIATIONS[found[0]], words[:1].upper() + words[1:])
