"""OpenAPI 2.0 documents become tools like those of 3.0."""

from __future__ import annotations

import json
from typing import Any

from apps.console.studio.tool_sources.openapi import ServiceDescription, read_service
from apps.console.studio.tool_sources.source_texts import read_source
from tests.tables import each_row

SHOP = """
swagger: "2.0"
info: {title: Pet shop}
host: pets.example
basePath: /v2/
schemes: [http, https]
consumes: [application/json]
securityDefinitions:
  key: {type: apiKey, in: header, name: X-Key}
paths:
  /pets/{id}:
    parameters:
      - $ref: '#/parameters/Id'
    get:
      operationId: getPet
      summary: Find a pet
      parameters:
        - {name: tags, in: query, type: array, items: {type: string}, collectionFormat: csv}
        - {name: limit, in: query, type: integer, default: 10, enum: [10, 20]}
    put:
      operationId: putPet
      summary: Change a pet
      parameters:
        - {name: pet, in: body, required: true, schema: {$ref: '#/definitions/Pet'}}
    post:
      operationId: sendPicture
      consumes: [multipart/form-data]
      parameters:
        - {name: picture, in: formData, type: file, required: true}
    delete:
      operationId: broken
      parameters: [{$ref: '#/parameters/None'}]
parameters:
  Id: {name: id, in: path, required: true, type: string, description: Of the pet.}
definitions:
  Pet:
    type: object
    required: [name]
    properties:
      name: {type: string}
      parent: {$ref: '#/definitions/Pet'}
"""


def service(text: str, address: str = "") -> ServiceDescription:
    return read_service(read_source(text), address)


def properties(tool: Any) -> dict[str, Any]:
    found: dict[str, Any] = tool["open_ai_tool"]["function"]["parameters"]["properties"]
    return found


def test_operations_become_tools():
    found = service(SHOP)

    assert (found.title, found.base_url) == ("Pet shop", "https://pets.example/v2")
    assert found.authorization is not None
    assert found.authorization.kind == "api_key"
    shown = [(one.name, one.parameters, one.problem, one.notes) for one in found.operations]
    body = "paths./pets/{id}.post.requestBody"
    assert shown == [
        ("getPet", ("id", "tags", "limit"), "", ()),
        ("", (), f"{body}: the body is multipart/form-data, but tools can send only JSON.", ()),
        ("putPet", ("id", "name", "parent"), "", ()),
        (
            "",
            (),
            (
                "paths./pets/{id}.delete.parameters[1]: the document contains no "
                "'#/parameters/None'."
            ),
            (),
        ),
    ]
    get, _, put, _ = found.operations
    assert properties(get.tool)["limit"]["default"] == 10
    assert properties(get.tool)["id"]["description"] == "Of the pet."
    assert put.tool is not None
    assert put.tool["open_ai_tool"]["function"]["parameters"]["required"] == ["id", "name"]


@each_row(
    ("fields", "address", "base_url"),
    [
        ({"host": "a.example"}, "", "https://a.example"),
        ({"host": "a.example", "schemes": ["http"]}, "", "http://a.example"),
        ({"host": "a.example:81"}, "http://b.example/x.json", "http://a.example:81"),
        ({"basePath": "/v1"}, "https://b.example/x.json", "https://b.example/v1"),
        ({}, "https://b.example/docs/x.json", "https://b.example"),
        ({"basePath": "/v1"}, "", ""),
    ],
)
def test_the_address_is_that_of_its_host(fields, address, base_url):
    document = {"swagger": "2.0", "paths": {"/a": {"get": {}}}, **fields}

    assert service(json.dumps(document), address).base_url == base_url


@each_row(
    ("definition", "written"),
    [
        (
            {"type": "basic"},
            {"type": "basic", "username": "", "password": {"$secret": "x-password"}},
        ),
        (
            {"type": "oauth2", "flow": "application", "tokenUrl": "https://a.example/t"},
            {
                "type": "client_id_secret",
                "client_id": "",
                "client_secret": {"$secret": "x-client"},
                "token_url": "https://a.example/t",
            },
        ),
    ],
)
def test_its_authorizations_are_read(definition, written):
    document = {
        "swagger": "2.0",
        "info": {"title": "x"},
        "paths": {"/a": {"get": {}}},
        "securityDefinitions": {"one": definition},
    }

    found = service(json.dumps(document)).authorization

    assert found is not None
    assert found.written == written


@each_row(
    "fields",
    [
        {"host": 5, "basePath": [], "schemes": "x", "consumes": 5},
        {"securityDefinitions": {"a": 5, "b": {"type": "oauth2", "flow": []}}},
        {"paths": {"/a": {"get": {"parameters": [5, {"in": [], "name": {}}, {"in": "body"}]}}}},
        {"paths": {"/a": {"get": {"parameters": 5, "consumes": {}}, "parameters": {}}, "/b": 5}},
    ],
)
def test_wrong_types_never_fail(fields):
    document = {"swagger": "2.0", "paths": {"/a": {"get": {}}}, **fields}

    assert service(json.dumps(document)).operations
