from __future__ import annotations

import re

import pytest
from django.core.management import call_command
from drf_spectacular.generators import SchemaGenerator

from apps.console.api.reference import DescribedField, describe_api

pytestmark = pytest.mark.django_db


def test_the_description_is_complete_and_without_warnings(tmp_path):
    file = tmp_path / "schema.yaml"

    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(file))

    assert "/api/applications/{slug}/" in file.read_text()


def test_the_page_shows_every_operation_and_object_of_the_description(client):
    page = client.get("/api/docs/").text

    schema = SchemaGenerator().get_schema(public=True)
    operations = [one["operationId"] for ways in schema["paths"].values() for one in ways.values()]
    named = {name for name, one in schema["components"]["schemas"].items() if "enum" not in one}
    anchors = set(re.findall(r'id="([\w-]+)"', page))
    assert {*operations, *named} <= anchors
    assert set(re.findall(r'href="#([\w-]+)"', page)) <= anchors
    assert re.findall(r'(?:src|href)="https?:', page) == []
    assert [page.count(f">{word}.</p>") for word in ("Creates an object", "Deletes an object")] == [
        11,
        12,
    ]


def test_no_description_is_that_of_a_base_class():
    schema = SchemaGenerator().get_schema(public=True)
    described = {
        group: ways["get"].get("description", "")
        for path, ways in schema["paths"].items()
        if "get" in ways and (group := path.removeprefix("/api/").removesuffix("/")).count("/") == 0
    }

    assert described["budgets"] == described["applications"] == ""
    assert schema["components"]["schemas"]["Budget"].get("description", "") == ""
    assert described["keys"] == (
        "API keys. Users who cannot see all applications see only their own keys."
    )


def test_fields_are_told_in_words():
    application = {field.name: field for field in describe_api()["objects"]["ApplicationRequest"]}
    deployment = {field.name: field for field in describe_api()["objects"]["DeploymentRequest"]}

    assert application["title"] == DescribedField(
        "title", "string with up to 200 characters", "", is_required=True
    )
    assert application["owner"].type == "string or null"
    assert (
        deployment["provider"].type == "string of openai, anthropic, openai_responses, demo, minilm"
    )
    answered = {field.name: field for field in describe_api()["objects"]["Application"]}
    assert (answered["warnings"].type, answered["warnings"].object) == (
        "list of (read-only)",
        "Warning",
    )


def test_the_page_is_only_read(client):
    assert client.post("/api/docs/").status_code == 405


def test_the_json_of_cases_has_types():
    schemas = SchemaGenerator().get_schema(public=True)["components"]["schemas"]
    case, turn = schemas["CaseRequest"]["properties"], schemas["CaseTurn"]
    kinds = {
        name.rpartition("/")[2]
        for name in schemas["CaseExpectation"]["discriminator"]["mapping"].values()
    }

    assert case["messages"]["items"] == {"$ref": "#/components/schemas/CaseTurn"}
    assert case["expectations"]["items"] == {"$ref": "#/components/schemas/CaseExpectation"}
    assert (turn["properties"]["role"]["enum"], turn["required"]) == (
        ["user", "assistant"],
        ["role"],
    )
    assert {(kind, *schemas[kind]["required"][:1]) for kind in kinds} == {
        (kind, "kind") for kind in kinds
    }
    assert schemas["SecondsAtMost"]["properties"]["most"] == {
        "type": "number",
        "minimum": 0,
        "exclusiveMinimum": True,
    }
    assert schemas["CaseFile"]["properties"]["data"]["nullable"] is True


def test_no_field_can_be_anything():
    schemas = SchemaGenerator().get_schema(public=True)["components"]["schemas"]

    about = {"description", "readOnly", "nullable", "default"}
    untyped = [
        f"{name}.{field}"
        for name, schema in schemas.items()
        for field, details in schema.get("properties", {}).items()
        if not details.keys() - about or details.get("items") == {}
    ]

    assert untyped == []
