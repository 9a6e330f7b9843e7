from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from apps.catalog.admin.form_schema import UNKNOWN, form_schema
from apps.manifest.schema import manifest_schema


def walk(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from walk(value)
    elif isinstance(schema, list):
        for item in schema:
            yield from walk(item)


def test_every_reference_leads_somewhere():
    schema = form_schema(manifest_schema())

    targets = {item["$ref"] for item in walk(schema) if isinstance(item.get("$ref"), str)}

    assert targets
    assert targets <= {f"#/definitions/{name}" for name in schema["definitions"]}


def test_nothing_in_it_makes_the_form_refuse():
    schema = form_schema(manifest_schema())

    words = {key for item in walk(schema) for key in item if not key.startswith("$")}

    assert not words & {"minimum", "maximum", "pattern", "minLength", "minItems", "anyOf"}


def test_a_choice_has_its_tags_and_a_place_for_unknown_ones():
    schema = form_schema(manifest_schema())

    kinds = schema["properties"]["tool_sets"]["items"]["oneOf"]

    assert {tag for kind in kinds for tag in kind.get("tags", ())} == {
        "rest-api",
        "dial-deployment",
        "internal",
        "mcp",
        "dial-mcp",
        "dial-app",
        "predefined",
    }
    assert kinds[-1] == UNKNOWN


def test_the_orchestrator_is_an_object_with_its_deployment():
    schema = form_schema(manifest_schema())

    deployment = schema["definitions"]["Deployment"]

    assert "oneOf" not in deployment
    assert deployment["required"] == ["deployment_id"]
    assert "name" not in deployment["properties"]


def test_every_field_is_named_in_words():
    schema = form_schema(manifest_schema(preview=True))

    names = {
        f"{key}: {value.get('title', '')}"
        for item in (schema, *schema["definitions"].values())
        for key, value in item.get("properties", {}).items()
        if not value.get("options", {}).get("hidden")
    }

    assert names >= {
        "conversation_starters: Conversation starters",
        "rest_api_method_info: Rest api method info",
    }
    assert not {name for name in names if name.endswith(": ") or "_" in name.partition(": ")[2]}
