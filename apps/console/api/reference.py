"""The reference page of the API, rendered on the server from the OpenAPI description, without scripts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from drf_spectacular.generators import SchemaGenerator

from apps.catalog.json_views import only

Schema = Mapping[str, Any]

PREFIX = "#/components/schemas/"
PURPOSES = {
    "list": "Lists them, page by page.",
    "create": "Adds one.",
    "retrieve": "Reads one.",
    "update": "Replaces one.",
    "partial_update": "Changes the fields that are sent.",
    "destroy": "Deletes one.",
}
"""By the last part of an operation's id."""


@dataclass(frozen=True, slots=True)
class DescribedField:
    """`object` names the object that the field holds, alone or in a list; "" for plain values."""

    name: str
    type: str
    about: str
    object: str = ""
    is_required: bool = False


@only("GET", "HEAD")
def reference(request: HttpRequest) -> HttpResponse:
    return render(request, "api/docs.html", {"described": described()})


@cache
def described() -> dict[str, dict[str, Any]]:
    """`operations` by their group, and the fields of `objects` by name. Depends on the code alone."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    schema: Schema = generator.get_schema(public=True)  # type: ignore[no-untyped-call]
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, methods in schema["paths"].items():
        for method, details in methods.items():
            for tag in details["tags"]:
                groups.setdefault(tag, []).append(operation(path, method, details))
    objects = schema["components"]["schemas"]
    enums = {name: one["enum"] for name, one in objects.items() if "enum" in one}
    named = {name: list(fields(one, enums)) for name, one in objects.items() if name not in enums}
    return {"operations": groups, "objects": named}


def operation(path: str, method: str, details: Schema) -> dict[str, Any]:
    """`body` and `answer` name objects, "" for none."""
    name = details["operationId"]
    action = name.removeprefix(f"{details['tags'][0]}_")
    status, answer = next(iter(details["responses"].items()))
    return {
        "id": name,
        "method": method.upper(),
        "path": path,
        "purpose": details.get("summary") or PURPOSES.get(action, ""),
        "parameters": [parameter(one) for one in details.get("parameters", ())],
        "body": object_of(content(details.get("requestBody", {}))),
        "status": status,
        "answer": object_of(content(answer)),
    }


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
    """`enums` has the choices of each object that is nothing but an enumeration."""
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
    """In words; the name of an object stands beside it as a link."""
    kind: str = schema.get("type", "" if object_of(schema) else "anything")
    words = ["list of" if kind == "array" else kind]
    if kind == "array" and not object_of(schema):
        words.append(type_of(schema["items"]))
    if "format" in schema:
        words.append(f"({schema['format']})")
    if "maxLength" in schema:
        words.append(f"of at most {schema['maxLength']:,} characters")
    if "enum" in schema:
        words.append(f"of {', '.join(schema['enum'])}")
    if schema.get("nullable"):
        words.append("or null")
    if schema.get("readOnly"):
        words.append("(only told)")
    return " ".join(words)
