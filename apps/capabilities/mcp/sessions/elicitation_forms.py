"""Converts a server's question to JSON that the chat page shows as a card, and validates the
answer.

The card of a form has `mode` "form", the server's `message`, `server` and `fields`. A field has
`name`, `label`, `hint`, `type`, `required`, `default` and `format`. A field of the type `choice` or
`choices` also has `options` with `value` and `label`. `least` and `most` limit a number, or the
number of characters or choices. The card of a page has `mode` "url", `url` and its `host`. With
`repeats`, the call is retried once the user confirms that they have finished on that page.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import mcp_types as types

from apps.capabilities.wrappers.value_texts import one_line, shorten_text

MOST_FIELDS = 50
MOST_OPTIONS = 200
MESSAGE_CHARACTERS = 4_000
HINT_CHARACTERS = 1_000
LABEL_CHARACTERS = 200
"""The maximum length of labels. Longer field names and option values are rejected, because they
cannot be truncated.
"""
URL_CHARACTERS = 2_000
MOST_CHARACTERS = 20_000
FORMATS: Mapping[str, re.Pattern[str]] = {
    "email": re.compile(r"[^@\s]+@[^@\s]+"),
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+"),
    "date": re.compile(r"\d{4}-\d\d-\d\d"),
    "date-time": re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)?"),
}


class NotAskable(ValueError):
    """Raised if a question cannot be shown as a card. The server receives the message."""


def card_of(server: str, asked: types.ElicitRequestParams) -> dict[str, Any]:
    """Convert a question to the JSON of a card. Raises `NotAskable` if this is not possible."""
    card = {
        "title": f"A question from {server}",
        "server": server,
        "mode": asked.mode,
        "message": shorten_text(asked.message, MESSAGE_CHARACTERS),
    }
    if isinstance(asked, types.ElicitRequestURLParams):
        return {**card, "url": asked.url, "host": host_of(asked.url)}
    properties = asked.requested_schema.get("properties") or {}
    required = asked.requested_schema.get("required") or []
    if not isinstance(properties, dict) or not isinstance(required, list):
        raise NotAskable("The requested schema has no properties.")
    if len(properties) > MOST_FIELDS:
        raise NotAskable(f"The requested schema has more than {MOST_FIELDS} properties.")
    fields = [read_field(name, one, name in required) for name, one in properties.items()]
    return {**card, "fields": fields}


def host_of(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        raise NotAskable("The URL cannot be parsed.") from None
    is_plain = len(url) <= URL_CHARACTERS and url.isprintable() and " " not in url
    if parts.scheme not in {"https", "http"} or not host or "@" in parts.netloc or not is_plain:
        raise NotAskable("Only http(s) URLs can be opened.")
    try:
        # Lookalike letters in a host name are shown in their encoded form.
        return host.encode("idna").decode() + port
    except UnicodeError:
        raise NotAskable("The URL cannot be parsed.") from None


def read_field(name: str, schema: Any, is_required: bool) -> dict[str, Any]:
    if not isinstance(schema, dict) or len(name) > LABEL_CHARACTERS:
        raise NotAskable("A property of the requested schema cannot be used.")
    field: dict[str, Any] = {
        "name": name,
        "label": label_fields(schema.get("title")) or name,
        "hint": hint_of(schema.get("description")),
        "required": is_required,
    }
    kind = schema.get("type")
    options = options_of(schema)
    if kind == "array":
        items = schema.get("items")
        several = options_of(items) if isinstance(items, dict) else None
        if several is None:
            raise NotAskable(f"The property {name} is a list without choices.")
        field |= {"type": "choices", "options": several, **bounds(schema, "minItems", "maxItems")}
    elif options is not None:
        field |= {"type": "choice", "options": options}
    elif kind == "string":
        written = schema.get("format")
        field |= {"type": kind, "format": written if written in FORMATS else ""}
        field |= bounds(schema, "minLength", "maxLength")
    elif kind in {"number", "integer"}:
        field |= {"type": kind, **bounds(schema, "minimum", "maximum")}
    elif kind == "boolean":
        field["type"] = kind
    else:
        raise NotAskable(f"The property {name} is not a string, a number, a boolean or a choice.")
    default = schema.get("default")
    has_default = default is not None and not field_problem(field, default)
    return {**field, "default": default} if has_default else field


def label_fields(text: object) -> str:
    return one_line(text, LABEL_CHARACTERS) if isinstance(text, str) else ""


def hint_of(text: object) -> str:
    return shorten_text(text, HINT_CHARACTERS) if isinstance(text, str) else ""


def bounds(schema: Mapping[str, Any], least: str, most: str) -> dict[str, Any]:
    found = {"least": schema.get(least), "most": schema.get(most)}
    return {name: value for name, value in found.items() if is_number(value)}


def options_of(schema: Mapping[str, Any]) -> list[dict[str, str]] | None:
    """Return the value and label of each option of a field, or None if the field has no options.
    Raises `NotAskable` if the options cannot be shown.
    """
    titled = schema.get("oneOf") or schema.get("anyOf")
    values = schema.get("enum")
    if isinstance(titled, list):
        pairs = [(one.get("const"), one.get("title")) for one in titled if isinstance(one, dict)]
    elif isinstance(values, list):
        names = schema.get("enumNames")
        labels = names if isinstance(names, list) and len(names) == len(values) else values
        pairs = list(zip(values, labels, strict=True))
    else:
        return None
    if not 0 < len(pairs) <= MOST_OPTIONS:
        raise NotAskable(f"A choice must have 1 to {MOST_OPTIONS} options.")
    return [option(value, name) for value, name in pairs]


def option(value: Any, name: Any) -> dict[str, str]:
    if not isinstance(value, str) or len(value) > LABEL_CHARACTERS:
        raise NotAskable("An option is not a string, or is too long.")
    return {"value": value, "label": label_fields(name) or value}


def content_problem(asked: Mapping[str, Any], content: Mapping[str, Any]) -> str:
    """Return the reason why an answer is invalid for the card, or ""."""
    fields = {field["name"]: field for field in asked.get("fields", ())}
    if unknown := sorted(content.keys() - fields.keys()):
        return f"“{unknown[0][:100]}” is not a field of this question."
    for name, field in fields.items():
        if name in content:
            if problem := field_problem(field, content[name]):
                return f"{field['label']}: {problem}"
        elif field["required"]:
            return f"{field['label']}: required."
    return ""


def field_problem(field: Mapping[str, Any], value: Any) -> str:
    match field["type"]:
        case "string":
            return text_problem(field, value)
        case "boolean":
            return "" if isinstance(value, bool) else "Choose yes or no."
        case "choice":
            return "" if value in values_of(field) else "Choose one of the options."
        case "choices":
            is_fit = isinstance(value, list) and all(one in values_of(field) for one in value)
            is_fit = is_fit and len(set(value)) == len(value)
            return (
                size_problem(field, len(value), "choices")
                if is_fit
                else ("Choose from the options.")
            )
        case kind:
            if not is_number(value):
                return "Enter a number."
            if kind == "integer" and value != int(value):
                return "Enter a whole number."
            return size_problem(field, value, "")


def text_problem(field: Mapping[str, Any], value: Any) -> str:
    if not isinstance(value, str) or len(value) > MOST_CHARACTERS:
        return f"The text is too long; the limit is {MOST_CHARACTERS:,} characters."
    pattern = FORMATS.get(field["format"])
    if pattern is not None and not pattern.fullmatch(value):
        return f"This is not a valid {field['format']}."
    return size_problem(field, len(value), "characters")


def size_problem(field: Mapping[str, Any], size: float, noun: str) -> str:
    verb = "Choose" if noun == "choices" else "Enter"
    if size < field.get("least", -math.inf):
        return f"{verb} at least {field['least']} {noun}".rstrip() + "."
    if size > field.get("most", math.inf):
        return f"{verb} at most {field['most']} {noun}".rstrip() + "."
    return ""


def values_of(field: Mapping[str, Any]) -> Sequence[str]:
    return [option["value"] for option in field["options"]]


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
