"""Renders the API's reference page from the OpenAPI document, without scripts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from drf_spectacular.generators import SchemaGenerator

from apps.doors.json_views import allow_methods

Schema = Mapping[str, Any]

PREFIX = "#/components/schemas/"
PURPOSES = {
    "list": "Lists the rows, page by page.",
    "create": "Creates an object.",
    "retrieve": "Returns an object.",
    "update": "Replaces an object.",
    "partial_update": "Changes the fields that are sent.",
    "destroy": "Deletes an object.",
}
"""Descriptions for operations that have none, by the last part of the operation's ID."""
EXAMPLES: Schema = {
    "integer": 1,
    "number": 1,
    "boolean": True,
    "string": "text",
    "date-time": "2030-01-01T00:00:00Z",
}
"""Example values by type and by format."""


@dataclass(frozen=True, slots=True)
class DescribedField:
    name: str
    type: str
    about: str
    object: str = ""
    """The name of the object that the field contains or lists, or "" for a plain value."""
    is_required: bool = False


@allow_methods("GET", "HEAD")
def reference(request: HttpRequest) -> HttpResponse:
    tries = request.user.is_active and request.user.is_staff
    return render(request, "api/docs.html", {"described": describe_api(), "tries": tries})


@cache
def describe_api() -> dict[str, dict[str, Any]]:
    """Return the `operations` by group, and the fields of `objects` by name."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    schema: Schema = generator.get_schema(public=True)  # type: ignore[no-untyped-call]
    groups: dict[str, list[dict[str, Any]]] = {}
    objects = schema["components"]["schemas"]
    for path, methods in schema["paths"].items():
        for method, details in methods.items():
            for tag in details["tags"]:
                groups.setdefault(tag, []).append(operation(path, method, details, objects))
    enums = {name: one["enum"] for name, one in objects.items() if "enum" in one}
    named = {name: list(fields(one, enums)) for name, one in objects.items() if name not in enums}
    return {"operations": groups, "objects": named}


def operation(path: str, method: str, details: Schema, objects: Schema) -> dict[str, Any]:
    """Describe an operation for the page. `body` and `answer` are names of objects, or ""."""
    name = details["operationId"]
    action = name.removeprefix(f"{details['tags'][0]}_")
    status, answer = next(iter(details["responses"].items()))
    return {
        "id": name,
        "method": method.upper(),
        "path": path,
        "purpose": details.get("summary") or PURPOSES.get(action, ""),
        "parameters": [parameter(one) for one in details.get("parameters", ())],
        "inputs": [(one["name"], one["in"]) for one in details.get("parameters", ())],
        "example": example_text(content(details.get("requestBody", {})), objects),
        "body": object_of(content(details.get("requestBody", {}))),
        "status": status,
        "answer": object_of(content(answer)),
    }


def example_text(schema: Schema, objects: Schema) -> str:
    """Return an example body with the required fields, or with the first field if none is required.
    Returns "" if there is no body.
    """
    if not schema:
        return ""
    return json.dumps(example(schema, objects), indent=2)


def example(schema: Schema, objects: Schema) -> Any:
    if name := schema.get("$ref", "").removeprefix(PREFIX):
        return example(objects[name], objects)
    if options := schema.get("allOf") or schema.get("oneOf"):
        return example(options[0], objects)
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            members: Schema = schema.get("properties", {})
            wanted = schema.get("required") or [*members][:1]
            return {name: example(members[name], objects) for name in wanted}
        case "array":
            return [example(schema["items"], objects)]
        case kind:
            return EXAMPLES.get(schema.get("format", ""), EXAMPLES.get(str(kind), {}))


def content(details: Schema) -> Schema:
    found: Schema = details.get("content", {}).get("application/json", {}).get("schema", {})
    return found


def parameter(details: Schema) -> DescribedField:
    about = " ".join(filter(None, (f"In the {details['in']}.", details.get("description"))))
    is_required = bool(details.get("required"))
    return DescribedField(
        details["name"], type_of(details["schema"]), about, is_required=is_required
    )


def fields(schema: Schema, enums: Mapping[str, Sequence[str]]) -> Iterator[DescribedField]:
    """Yield the fields of an object. `enums` maps the names of enumerations to their values."""
    for option in schema.get("oneOf", ()):
        yield DescribedField(object_of(option), "one of these", "", object_of(option))
    required = schema.get("required", ())
    for name, details in schema.get("properties", {}).items():
        is_required = name in required and not details.get("readOnly")
        if (choice := object_of(details)) in enums:
            kind = type_of({**details, "type": "string", "enum": enums[choice]})
            yield DescribedField(name, kind, "", is_required=is_required)
        else:
            yield DescribedField(
                name, type_of(details), details.get("description", ""), choice, is_required
            )


def object_of(schema: Schema) -> str:
    references = [schema, schema.get("items", {}), *schema.get("allOf", ())]
    found = (str(one["$ref"]).removeprefix(PREFIX) for one in references if "$ref" in one)
    return next(found, "")


def type_of(schema: Schema) -> str:
    """Describe the type of a field in words. Omits the name of an object, which the page shows as a
    link.
    """
    kind: str = schema.get("type", "" if object_of(schema) else "anything")
    words = ["list of" if kind == "array" else kind]
    if kind == "array" and not object_of(schema):
        words.append(type_of(schema["items"]))
    if "format" in schema:
        words.append(f"({schema['format']})")
    if "maxLength" in schema:
        words.append(f"with up to {schema['maxLength']:,} characters")
    if "enum" in schema:
        words.append(f"of {', '.join(schema['enum'])}")
    if schema.get("nullable"):
        words.append("or null")
    if schema.get("readOnly"):
        words.append("(read-only)")
    return " ".join(words)
