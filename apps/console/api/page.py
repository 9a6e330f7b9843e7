"""The page that shows the API: made on the server from its own OpenAPI description, without scripts."""

from __future__ import annotations

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
"""By how the ids of operations end."""


@dataclass(frozen=True, slots=True)
class Field:
    """`object` is the name of the object that it is, or a list of, "" for plain values."""

    name: str
    type: str
    about: str
    object: str = ""
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """`body` and `answer` are of the type that they name, "" for none."""

    id: str
    method: str
    path: str
    purpose: str
    parameters: tuple[Field, ...]
    body: str
    status: str
    answer: str


@dataclass(frozen=True, slots=True)
class Described:
    operations: Mapping[str, Sequence[Operation]]
    """By the group that they belong to."""
    objects: Mapping[str, Sequence[Field]]


@only("GET", "HEAD")
def docs(request: HttpRequest) -> HttpResponse:
    return render(request, "api/docs.html", {"described": described()})


@cache
def described() -> Described:
    """It depends on the code alone."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    schema: Schema = generator.get_schema(public=True)  # type: ignore[no-untyped-call]
    groups: dict[str, list[Operation]] = {}
    for path, methods in schema["paths"].items():
        for method, written in methods.items():
            for tag in written["tags"]:
                groups.setdefault(tag, []).append(operation(path, method, written))
    objects = schema["components"]["schemas"]
    words = {name: one["enum"] for name, one in objects.items() if "enum" in one}
    named = {name: tuple(fields(one, words)) for name, one in objects.items() if name not in words}
    return Described(groups, named)


def operation(path: str, method: str, written: Schema) -> Operation:
    name = written["operationId"]
    action = name.removeprefix(f"{written['tags'][0]}_")
    status, answer = next(iter(written["responses"].items()))
    return Operation(
        name,
        method.upper(),
        path,
        written.get("summary") or PURPOSES.get(action, ""),
        tuple(map(parameter, written.get("parameters", ()))),
        object_of(content(written.get("requestBody", {}))),
        status,
        object_of(content(answer)),
    )


def content(written: Schema) -> Schema:
    found: Schema = written.get("content", {}).get("application/json", {}).get("schema", {})
    return found


def parameter(written: Schema) -> Field:
    about = " ".join(filter(None, (f"In the {written['in']}.", written.get("description"))))
    name, required = written["name"], bool(written.get("required"))
    return Field(name, type_of(written["schema"]), about, is_required=required)


def fields(schema: Schema, words: Mapping[str, Sequence[str]]) -> Iterator[Field]:
    """`words` are those that an object of them alone can be, by its name."""
    required = schema.get("required", ())
    for name, written in schema.get("properties", {}).items():
        about = written.get("description", "")
        is_required = name in required and not written.get("readOnly")
        if (choice := object_of(written)) in words:
            kind = type_of({**written, "type": "string", "enum": words[choice]})
            yield Field(name, kind, "", is_required=is_required)
        else:
            yield Field(name, type_of(written), about, object_of(written), is_required)


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
