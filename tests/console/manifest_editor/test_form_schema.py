from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from apps.console.manifest_editor.form_schema import UNKNOWN, form_schema, without_marks
from apps.manifest.schema.manifest_schema import manifest_schema
from apps.manifest.toolsets.kinds import KINDS


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

    assert [tag for kind in kinds for tag in kind.get("tags", ())] == list(KINDS)
    assert kinds[-1] == UNKNOWN


def test_the_orchestrator_is_an_object_with_its_deployment():
    schema = form_schema(manifest_schema())

    deployment = schema["definitions"]["DeploymentReference"]

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
        "rest_api_method_info: REST API method info",
    }
    assert not {name for name in names if name.endswith(": ") or "_" in name.partition(": ")[2]}


def test_help_texts_are_plain():
    schema = form_schema(manifest_schema())

    texts = [
        item["description"] for item in walk(schema) if isinstance(item.get("description"), str)
    ]

    assert texts
    assert [text for text in texts if "`" in text] == []
    assert schema["definitions"]["Features"]["properties"]["timestamp"]["description"].endswith(
        "This feature is on unless the value is null."
    )


def test_markdown_in_an_example_stays():
    schema = form_schema(
        {"properties": {"name": {"type": "string", "description": "**Bold**, as in `**City:** `."}}}
    )

    assert schema["properties"]["name"]["description"] == "Bold, as in **City:** ."


def test_a_kind_is_told_together_with_what_it_is_a_kind_of():
    schema = form_schema(manifest_schema())

    prompts = schema["properties"]["orchestrator"]["properties"]["system_prompt"]

    [custom] = [kind for kind in prompts["oneOf"] if kind.get("tags") == ["custom"]]
    assert custom["description"] == (
        "The model's instructions for every conversation. Omitted: the prompt contains only the "
        "texts from contexts, skills and features. A prompt that is written in the manifest."
    )


def test_what_clients_may_bring_is_explained_in_the_form():
    schema = form_schema(manifest_schema())

    permissions = schema["definitions"]["ClientPermissions"]["properties"]

    assert {name: field["type"] for name, field in permissions.items()} == dict.fromkeys(
        ("system_messages", "service_tier", "metadata", "user"), "boolean"
    )
    assert [name for name, field in permissions.items() if not field.get("description")] == []


def test_shared_headers_of_a_toolset_are_texts_or_secrets_by_their_names():
    schema = form_schema(manifest_schema(secrets=["shop"]))

    fields = schema["definitions"]["RestToolSet"]["properties"]

    assert (fields["base_url"]["title"], fields["base_url"]["type"]) == ("Base URL", "string")
    assert fields["headers"]["type"] == "object"
    assert [choice["title"] for choice in fields["headers"]["additionalProperties"]["oneOf"]] == [
        "text",
        "Secret reference",
        "Hidden credential",
    ]


def test_descriptions_in_the_form_name_no_settings():
    assert (
        without_marks("Optional, if set (`DEFAULT_MODEL`). Use `x`.") == "Optional, if set. Use x."
    )
