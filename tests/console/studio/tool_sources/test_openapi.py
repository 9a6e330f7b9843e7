"""OpenAPI documents, including hostile ones, become tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from apps.console.studio.tool_sources.openapi import ServiceDescription, read_service
from apps.console.studio.tool_sources.source_texts import SourceInvalid, read_source
from apps.manifest.kinds.rest import RestToolSet
from tests.measuring.counted_work import count_calls

PETS = """
openapi: 3.0.3
info: {title: Pet shop, description: Sells pets.}
servers:
  - url: https://{region}.pets.example/v1/
    variables: {region: {default: eu}}
security: [{key: []}]
paths:
  /pets/{pet-id}:
    parameters:
      - $ref: '#/components/parameters/Id'
    get:
      operationId: find pet
      summary: Find a pet
      parameters:
        - {name: fields, in: query, schema: {type: array, items: {type: string, enum: [yes, no]}}}
        - {name: X-Trace, in: header, required: true, schema: {type: integer, default: 7}}
        - {name: Authorization, in: header, schema: {type: string}}
        - {name: session, in: cookie, schema: {type: string}}
    put:
      operationId: find pet
      description: Change a pet.
      deprecated: true
      requestBody:
        required: true
        content:
          application/json:
            schema:
              allOf:
                - $ref: '#/components/schemas/Pet'
                - required: [name]
    patch: {summary: Mend a pet}
  /upload:
    post:
      requestBody: {content: {multipart/form-data: {schema: {type: object}}}}
components:
  parameters:
    Id: {name: pet-id, in: path, required: true, description: Of the pet., schema: {type: string}}
  schemas:
    Pet:
      type: object
      properties:
        id: {type: integer, readOnly: true}
        name: {type: [string, 'null'], maxLength: 9}
        pet-id: {type: string}
        parent: {$ref: '#/components/schemas/Pet'}
  securitySchemes:
    other: {type: http, scheme: bearer}
    key: {type: apiKey, in: header, name: X-Key}
"""


def service(text: str, address: str = "") -> ServiceDescription:
    return read_service(read_source(text), address)


def with_paths(paths: Any, **rest: Any) -> str:
    return json.dumps(
        {"openapi": "3.1.0", "servers": [{"url": "https://a.example"}], "paths": paths, **rest}
    )


def with_schema(schema: Any, **components: Any) -> str:
    body = {"content": {"application/json": {"schema": schema}}}
    return with_paths({"/a": {"post": {"requestBody": body}}}, components=components)


def arguments_of(found: ServiceDescription, index: int = 0) -> Any:
    tool = found.operations[index].tool
    assert tool is not None
    return tool["open_ai_tool"]["function"]["parameters"]


def test_operations_become_tools_of_a_manifest():
    found = service(PETS)

    find, change, mend, upload = found.operations
    assert (found.title, found.base_url) == ("Pet shop", "https://eu.pets.example/v1")
    assert found.authorization is not None
    assert found.authorization.written == {
        "type": "api_key",
        "key": {"$secret": "pet-shop-key"},
        "name": "X-Key",
        "location": "header",
    }
    assert find.notes == ("fields is sent as one comma-separated text, not once per value.",)
    assert find.tool == {
        "type": "restapi-tool",
        "open_ai_tool": {
            "type": "function",
            "function": {
                "name": "find_pet",
                "description": "Find a pet",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "pet-id": {
                            "type": "string",
                            "description": "Of the pet.",
                            "parameter_info": {"type": "url", "key": "pet-id"},
                        },
                        "fields": {
                            "type": "array",
                            "items": {"type": "string", "enum": ["yes", "no"]},
                            "description": "A list.",
                            "parameter_info": {"type": "query", "key": "fields"},
                        },
                        "X-Trace": {
                            "type": "integer",
                            "default": 7,
                            "parameter_info": {"type": "header", "key": "X-Trace"},
                        },
                    },
                    "required": ["pet-id", "X-Trace"],
                },
            },
        },
        "rest_api_method_info": {"method_url": "/pets/{pet-id}", "method_type": "get"},
    }
    assert (change.name, change.is_deprecated) == ("find_pet_2", True)
    assert arguments_of(found, 1) == {
        "type": "object",
        "properties": {
            "pet-id": find.tool["open_ai_tool"]["function"]["parameters"]["properties"]["pet-id"],
            "name": {"type": "string", "parameter_info": {"type": "body", "key": "name"}},
            "pet-id_body": {"type": "string", "parameter_info": {"type": "body", "key": "pet-id"}},
            "parent": {
                "type": "object",
                "description": "An object.",
                "properties": {
                    "name": {"type": "string"},
                    "pet-id": {"type": "string"},
                    "parent": {"type": "object", "properties": {}, "description": "An object."},
                },
                "parameter_info": {"type": "body", "key": "parent", "encoding": "json"},
            },
        },
        "required": ["pet-id", "name"],
    }
    assert mend.problem == (
        "paths./pets/{pet-id}.patch: tools support only GET, POST, PUT and DELETE."
    )
    assert upload.problem == (
        "paths./upload.post.requestBody: the body is multipart/form-data, but tools can send "
        "only JSON."
    )
    written = [one.tool for one in found.operations if one.tool]
    RestToolSet.model_validate({"name": "pets", "base_url": found.base_url, "tools": written})


@pytest.mark.parametrize(
    ("servers", "address", "base_url"),
    [
        ([{"url": "/v2"}], "https://a.example/docs/openapi.json", "https://a.example/v2"),
        ([], "https://a.example/docs/openapi.json", "https://a.example"),
        ([{"url": "/v2"}], "", ""),
        ([{"url": "file:///etc/passwd"}], "", ""),
        ([{"url": "https://user:password@a.example"}], "", ""),
        ([{"url": "https://{host}.example"}], "", ""),
        ("https://a.example", "", ""),
    ],
)
def test_the_address_is_that_of_the_first_server(servers, address, base_url):
    text = json.dumps({"openapi": "3.0.0", "servers": servers, "paths": {"/a": {"get": {}}}})

    found = service(text, address)

    assert (found.base_url, bool(found.notes)) == (base_url, not base_url)


@pytest.mark.parametrize(
    ("schemes", "written"),
    [
        (
            {"type": "http", "scheme": "Basic"},
            {"type": "basic", "username": "", "password": {"$secret": "service-password"}},
        ),
        (
            {
                "type": "oauth2",
                "flows": {
                    "clientCredentials": {"tokenUrl": "https://id.example/t", "scopes": {"r": ""}}
                },
            },
            {
                "type": "client_id_secret",
                "client_id": "",
                "client_secret": {"$secret": "service-client"},
                "token_url": "https://id.example/t",
                "scope": "r",
            },
        ),
    ],
)
def test_authorizations_name_secrets(schemes, written):
    found = service(
        with_paths({"/a": {"get": {}}}, components={"securitySchemes": {"one": schemes}})
    )

    assert found.authorization is not None
    assert found.authorization.written == written


PROBLEMS = {
    "": "Paste a document, or enter its URL.",
    "{}": "openapi: the key is missing, so this is not an OpenAPI document.",
    '{"openapi": "4.0.0"}': "openapi: unsupported version; use 2.0, 3.0 or 3.1.",
    '{"openapi": "3.1.0", "paths": []}': "paths: the document has no operations.",
    '{"openapi": "3.1.0", "paths": {"/a": {"get": 7}}}': "paths: the document has no operations.",
    '{"openapi" "3"}': "This is not valid JSON: Expecting ':' delimiter, line 1, column 12.",
    "a: [": "This is not valid YAML: did not find expected node content, line 2, column 1.",
    "a: &a [*a]": "This is not valid YAML: the alias 'a' has no anchor above it, line 1, column 8.",
    "Just call our service, please.": "This is plain text, not an OpenAPI document. Paste the JSON or YAML of the document, which begins with its OpenAPI version, or enter its URL.",
    "api.example.com/openapi.json": "This is a URL, not an OpenAPI document. Enter it in the URL field: https://api.example.com/openapi.json",
    "[" * 1_000_000: "The document is nested too deeply.",
    "- " * 100_000: ("This is not valid YAML: nested too deeply; the limit is 80 levels, line "
                    "1, column 161."),
    "<html>": "This is a web page, not an OpenAPI document. Enter the URL of its JSON or YAML.",
    "x: !!python/object/apply:os.system [ls]": ("openapi: the key is missing, so this is not an "
                                               "OpenAPI document."),
}  # fmt: skip
"""Texts, each with its error."""


def test_a_text_that_is_no_such_document_is_told_so():
    assert {text: problem_of(text) for text in PROBLEMS} == PROBLEMS


def problem_of(text: str) -> str:
    with pytest.raises(SourceInvalid) as caught:
        service(text)
    return str(caught.value)


def test_aliases_that_multiply_are_counted_and_not_followed_for_ever():
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [{f'*a{n - 1},' * 9}]" for n in range(1, 20))]

    with pytest.raises(SourceInvalid, match="too large"):
        read_source("\n".join(lines))


@pytest.mark.parametrize(
    ("ref", "problem"),
    [
        (
            "other.yaml#/A",
            "'other.yaml#/A' refers to another document, which is not supported; bundle everything",
        ),
        ("file:///etc/passwd", "'file:///etc/passwd' refers to another document"),
        ("http://169.254.169.254/", "'http://169.254.169.254/' refers to another document"),
        ("#/components/schemas/None", "the document contains no '#/components/schemas/None'."),
        ("#/components/schemas/Loop", "'#/components/schemas/Loop' is circular."),
        ("#/openapi", "expected an object."),
    ],
)
def test_references_stay_inside_of_the_document_and_end(ref, problem):
    loop = {
        "Loop": {"$ref": "#/components/schemas/Other"},
        "Other": {"$ref": "#/components/schemas/Loop"},
    }

    found = service(with_schema({"$ref": ref}, schemas=loop))

    assert found.operations[0].tool is None
    assert found.operations[0].problem.startswith(
        "paths./a.post.requestBody.content.application/json"
    )
    assert problem in found.operations[0].problem


ELSEWHERE = ["a", "https://evil.example/", "/a/../admin", "/a/%2E%2e/b", "//evil.example", "/a?x=1", "/a#b", "/a\\b", "/a b", "/a\n"]  # fmt: skip


def test_a_path_that_could_lead_elsewhere_is_refused():
    found = service(with_paths({path: {"get": {}} for path in ELSEWHERE})).operations

    assert [one.path for one in found if one.tool is not None] == []
    problems = {one.problem.partition(": ")[2] for one in found}
    assert (len(found), problems) == (len(ELSEWHERE), {"this is not a valid path."})


@pytest.mark.parametrize("wrong", [7, "text", [], [7], {"a": 7}, None])
def test_wrong_types_are_told_or_ignored_and_never_fail(wrong):
    operation = {
        "summary": wrong,
        "operationId": wrong,
        "deprecated": wrong,
        "parameters": wrong,
        "servers": wrong if not isinstance(wrong, dict) else None,
    }
    schema = {
        "properties": {"a": wrong, "b": {"type": wrong, "enum": wrong, "items": wrong}},
        "required": wrong,
        "allOf": wrong,
    }
    body = {"content": {"application/json": {"schema": schema}}}
    paths = {
        "/a": wrong,
        "/b": {"get": operation},
        "/c": {"post": {"requestBody": wrong}},
        "/d": {"post": {"requestBody": body}},
        "/e": {"get": {}},
    }
    whole = {"info": wrong, "components": {"securitySchemes": wrong}}

    found = service(with_paths(paths, **whole))

    for operation_found in found.operations:
        assert bool(operation_found.tool) != bool(operation_found.problem)
    assert found.operations[-1].tool is not None


def test_references_that_multiply_end_in_open_objects():
    schemas = {
        f"S{n}": {
            "type": "object",
            "properties": {f"p{i}": {"$ref": f"#/components/schemas/S{n + 1}"} for i in range(30)},
        }
        for n in range(20)
    }
    schemas["S20"] = {"type": "string"}

    found = service(with_schema({"$ref": "#/components/schemas/S0"}, schemas=schemas))

    assert found.operations[0].notes == (
        "Its arguments are described to a depth of 0 levels; deeper values are not checked.",
    )
    assert len(json.dumps(found.operations[0].tool)) < 10_000


def test_the_work_for_a_document_grows_with_its_paths_and_no_faster():
    def operation(n: int) -> Any:
        parameter = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
        filters = {"name": "q", "in": "query", "schema": {"$ref": "#/components/schemas/Filter"}}
        return {"get": {"operationId": f"find{n}", "parameters": [parameter, filters]}}

    def with_many(paths: int) -> str:
        fields = {f"f{n}": {"type": "string"} for n in range(10)}
        schemas = {"Filter": {"type": "object", "properties": fields}}
        items = {f"/p{n}/{{id}}": operation(n) for n in range(paths)}
        return with_paths(items, components={"schemas": schemas})

    few, many = with_many(100), with_many(500)

    assert len({one.name for one in service(many).operations}) == 500
    assert count_calls(lambda: service(many)) < 6 * count_calls(lambda: service(few))


def test_a_document_that_is_too_long_is_refused():
    assert problem_of("x" * 32_000_001) == (
        "The document has 32,000,001 characters; the limit is 32,000,000."
    )


def test_the_schema_of_one_tool_stays_at_a_size_that_a_model_can_read():
    leaf = {"type": "object", "properties": {f"part{n}": {"type": "string"} for n in range(9)}}
    levels = {f"Level{n}": with_refs(n) for n in range(6)} | {"Level6": leaf}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Level0"}}}}

    found = service(
        with_paths({"/wide": {"post": {"requestBody": body}}}, components={"schemas": levels})
    )

    (wide,) = found.operations
    assert len(json.dumps(wide.tool)) < 20_000
    assert wide.notes == (
        "Its arguments are described to a depth of 1 levels; deeper values are not checked.",
    )


def with_fields(count: int, *, required: tuple[str, ...] = (), **field: Any) -> str:
    text = {"type": "string", "description": "What it is. " * 20, **field}
    schema = {"properties": {f"field{n}": text for n in range(count)}, "required": [*required]}
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    return with_paths({"/flat": {"post": {"requestBody": body}}})


@pytest.mark.parametrize("field", [{}, {"enum": ["x" * 90 + str(n) for n in range(9)]}])
def test_optional_fields_that_do_not_fit_are_left_out_and_named(field):
    found = service(with_fields(3_000, required=("field2999",), **field))

    (flat,) = found.operations
    parameters = arguments_of(found)
    sizes = [
        len(json.dumps({n: without_place(one)})) for n, one in parameters["properties"].items()
    ]
    assert 0 < sum(sizes) <= 20_000 < sum(sizes) + 2 * sizes[0]
    assert parameters["required"] == ["field2999"]
    kept = len(sizes)
    first = ", ".join(f"field{n}" for n in range(kept - 1, kept + 4))
    assert flat.notes[0] == (
        f"{3_000 - kept:,} of its 3,000 arguments are omitted, because the limit is 20,000 "
        f"characters per tool: {first} and others. None of them is required."
    )


def without_place(parameter: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in parameter.items() if key != "parameter_info"}


def test_an_operation_with_too_much_that_is_required_is_no_tool():
    found = service(with_fields(300, required=tuple(f"field{n}" for n in range(300))))

    (flat,) = found.operations
    assert (flat.tool, flat.problem) == (
        None,
        (
            "paths./flat.post: its 300 required arguments are too large; the limit is "
            "20,000 characters per tool."
        ),
    )


def test_a_long_default_is_left_to_the_service():
    found = service(with_fields(1, default="x" * 2_000))

    assert "default" not in arguments_of(found)["properties"]["field0"]


def with_refs(level: int) -> dict[str, Any]:
    ref = {"$ref": f"#/components/schemas/Level{level + 1}"}
    return {"type": "object", "properties": {f"field{n}": ref for n in range(9)}}


def test_all_operations_of_a_large_document_can_be_chosen():
    words = "What it does. " * 70
    get = {"summary": words, "parameters": [{"name": "q", "in": "query", "schema": {}}]}

    found = service(with_paths({f"/path{n}": {"get": get} for n in range(1_200)}))

    assert len(found.operations) == 1_200
    assert all(one.tool is not None for one in found.operations)
    assert found.notes == ()
