import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from jsonschema import Draft202012Validator

from apps.manifest.schema.manifest_schema import manifest_schema
from apps.manifest.schema.reference import ReferenceIncomplete, render_tables, slug
from apps.manifest.toolsets.tools import apply_patch
from apps.manifest.validation.validation import Review, review

DOCS: Path = settings.BASE_DIR / "docs"
DOCUMENT = (DOCS / "manifest.md").read_text()
EXAMPLES: list[dict[str, Any]] = [
    json.loads(text)
    for text in re.findall(r"^```json\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
]
SMALLEST = EXAMPLES[0]


SCHEMA = manifest_schema()
DEFINITIONS = SCHEMA["$defs"]
EDITOR = Draft202012Validator(manifest_schema(secrets=["tracking", "tickets", "desk", "travel"]))
"""Validates like an editor, for which a credential is a text or the name of a secret."""


def descriptions() -> dict[str, str]:
    """Return the descriptions by field. The schema omits a description that equals that of the
    model in the field."""
    return {
        f"{model}.{name}": value.get("description")
        or DEFINITIONS.get(value.get("$ref", "").rpartition("/")[2], {}).get("description", "")
        for model, definition in (("Manifest", SCHEMA), *DEFINITIONS.items())
        for name, value in definition["properties"].items()
    }


def test_every_field_has_a_description():
    assert [place for place, text in descriptions().items() if not text] == []


def test_descriptions_are_sentences_in_one_line():
    sentence = re.compile(r"\S[^\n]*[.*]")

    assert [place for place, text in descriptions().items() if not sentence.fullmatch(text)] == []


def test_the_document_is_up_to_date():
    assert render_tables(DOCUMENT) == DOCUMENT, "run `manage.py manifest_reference`"


def test_the_document_is_written_in_a_checkout_alone(settings: Any, tmp_path: Path):
    settings.BASE_DIR = tmp_path

    with pytest.raises(CommandError, match=r"manifest\.md does not exist; run this command in a"):
        call_command("manifest_reference")


def test_a_field_without_a_table_is_told():
    without = DOCUMENT.replace("<!-- fields of Trigger at", "<!-- of Trigger at")

    with pytest.raises(ReferenceIncomplete, match="No table has the field type of Trigger"):
        render_tables(without)


def test_a_table_of_a_model_that_there_is_not_is_told():
    renamed = DOCUMENT.replace("<!-- fields of Trigger at", "<!-- fields of Triger at")

    with pytest.raises(ReferenceIncomplete, match="There is no model named Triger"):
        render_tables(renamed)


def test_a_field_that_several_kinds_share_is_told_once():
    rows = re.findall(r"^\| `fallback_configuration`.*$", DOCUMENT, re.MULTILINE)

    assert len(rows) == 3  # of tools that are defined in full, of servers, and of agents


def test_a_type_that_has_to_be_written_is_required_though_the_schema_has_a_default():
    needed = '| `type` | `"hard_stop"` | *required* |'

    assert needed in DOCUMENT
    assert DEFINITIONS["HardStop"]["properties"]["type"]["default"] == "hard_stop"
    assert '| `type` | `"restapi-tool"` | `"restapi-tool"` |' in DOCUMENT


def test_headings_differ_so_that_links_stay():
    headings = [slug(text) for text in re.findall(r"^#+ (.+)$", DOCUMENT, re.MULTILINE)]

    assert sorted(headings) == sorted(set(headings))


def test_links_lead_somewhere():
    dead = []
    for target in sorted(set(re.findall(r"\]\(([^)]+)\)", DOCUMENT))):
        name, _, anchor = target.partition("#")
        text = (DOCS / name).read_text() if name else DOCUMENT
        headings = {slug(found) for found in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
        if anchor and anchor not in headings:
            dead.append(target)

    assert dead == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: ",".join(example))
def test_examples_are_manifests_without_mistakes_and_warnings(example):
    document = apply_patch(SMALLEST, example)

    # A patch cannot contain null; a manifest can.
    document |= {key: value for key, value in example.items() if key != "orchestrator"}

    assert review(document, preview=True) == Review((), ())
    assert [str(e) for e in EDITOR.iter_errors(document)] == []


@pytest.mark.parametrize("section", ["tool_sets", "contexts", "skills"])
def test_there_is_an_example_of_every_kind(section):
    schema = SCHEMA["properties"][section]
    [items] = [one["items"] for one in (schema, *schema.get("anyOf", ())) if "items" in one]

    shown = {item["type"] for example in EXAMPLES for item in example.get(section, ())}

    kinds = set(items["discriminator"]["mapping"])
    assert shown == kinds, f"docs/manifest.md has no example of {sorted(kinds - shown)}"


def test_there_is_an_example_of_every_kind_of_tool():
    toolsets = [toolset for example in EXAMPLES for toolset in example.get("tool_sets", ())]

    tools = [tool for toolset in toolsets for tool in toolset.get("tools", ())]
    # Tools of the page have a single kind, which can be omitted.
    shown = {tool["type"] for tool in tools if isinstance(tool, dict) and "type" in tool}

    kinds = ("RestTool", "DeploymentTool", "SimpleDeploymentTool", "InternalTool", "PredefinedTool")
    assert shown == {DEFINITIONS[name]["properties"]["type"]["const"] for name in kinds}


def test_there_is_an_example_of_every_feature_and_event():
    features = {name for example in EXAMPLES for name in example.get("features", ())}
    events = {hook["event"] for example in EXAMPLES for hook in example.get("hooks", ())}

    assert features == set(DEFINITIONS["Features"]["properties"])
    assert events == set(DEFINITIONS["Hook"]["properties"]["event"]["enum"])
