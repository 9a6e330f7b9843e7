"""The labels of an application's fields, which the studio and the admin share."""

import pytest

from apps.console.studio.field_labels import (
    application_label,
    finding_label,
    items_on_path,
    labels_data,
)
from apps.manifest.toolsets.kinds import KINDS

pytestmark = pytest.mark.django_db

NEXT = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
PARAMETER = "open_ai_tool.function.parameters.properties.city"
MANIFEST = {
    "tool_sets": [
        {
            "type": "rest-api",
            "name": "weather",
            "title": "Weather",
            "tools": [{"open_ai_tool": {"function": {"name": "current"}}}],
        },
        {"type": "predefined", "template_name": "unknown"},
        "odd",
        {"type": "a2a-agent", "name": {"en": "Booker"}},
    ]
}


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("orchestrator.system_prompt.content", ["Instructions", "Prompt"]),
        ("orchestrator.max_iterations", ["Limits", "Maximum model calls"]),
        ("orchestrator.deployment.parameters", ["Model", "Parameters"]),
        ("orchestrator.client.name", ["Behavior", "Client", "Name"]),
        ("orchestrator", ["Orchestrator"]),
        ("features", ["Behavior"]),
        ("features.memory.prime", ["Behavior", "Memories in the prompt"]),
        ("features.subagents.types[0].name", ["Tools", "Sub-agent 1", "Name"]),
        ("hooks[0].url", ["Behavior", "Hooks 1", "URL"]),
        ("contexts[1]", ["Files and contexts", "Context 2"]),
        ("skills[0].url", ["Skills", "Skill from DIAL 1", "Path"]),
        ("conversation_starters.starters[1].text", ["Starters", "Starter 2", "Question"]),
        ("tool_sets", ["Tools"]),
        ("tool_sets[0]", ["Tools", "Weather"]),
        ("tool_sets[0].base_url", ["Tools", "Weather", "Service URL"]),
        ("tool_sets[0].base_url.host", ["Tools", "Weather", "Service URL", "Host"]),
        ("tool_sets[0].cache.seconds", ["Tools", "Weather", "Cache", "Seconds"]),
        ("tool_sets[0].mcp_server_info.authorization.token", ["Tools", "Weather", "Secret"]),
        (
            "tool_sets[0].tools[0].fallback_configuration.strategies[1].type",
            ["Tools", "Weather", "current", "When a call fails 2", "Type"],
        ),
        (
            "tool_sets[0].tools[0].rest_api_method_info.method_url",
            ["Tools", "Weather", "current", "URL"],
        ),
        (
            f"tool_sets[0].tools[0].{PARAMETER}",
            ["Tools", "Weather", "current", "Parameter city"],
        ),
        (
            f"tool_sets[0].tools[0].{PARAMETER}.parameter_info.key",
            ["Tools", "Weather", "current", "Parameter city", "At the service"],
        ),
        ("tool_sets[0].tools[3].enabled", ["Tools", "Weather", "Tool 4", "In use"]),
        ("tool_sets[1].override.enabled", ["Tools", "unknown", "In use"]),
        ("tool_sets[2].name", ["Tools", "Toolset 3", "Name"]),
        ("tool_sets[3].url", ["Tools", "Booker", "Agent URL"]),
        ("tool_sets[9]", ["Tools", "Toolset 10"]),
    ],
)
def test_a_field_is_named_by_its_section_its_items_and_its_label(path: str, steps: list[str]):
    items = items_on_path(path, MANIFEST)

    assert application_label(f"manifest.{path}", items) == NEXT.join(steps)
    assert finding_label(path, MANIFEST) == NEXT.join(steps)


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("title", ["Instructions", "Title"]),
        ("slug", ["General", "Name in URLs"]),
        ("is_public", ["Access", "Everyone"]),
        ("manifest", ["Manifest"]),
        ("manifest.tool_sets[1].name", ["Tools", "Toolset 2", "Name"]),
        ('skill My-Tone["examples/letter.md"]', ["Skills", "My-Tone", "examples/letter.md"]),
        ('skills.tone["SKILL.md"]', ["Skills", "tone", "SKILL.md"]),
        ("prompt own.text", ["Prompt own", "Text"]),
        ("$", ["All fields"]),
    ],
)
def test_columns_and_skills_have_labels_without_the_values_of_an_application(
    path: str, steps: list[str]
):
    assert application_label(path) == NEXT.join(steps)


def test_findings_outside_the_manifest_have_the_labels_of_their_fields():
    paths = ["(title)", "skills/tone/SKILL.md", "", "$"]

    assert [finding_label(path, {}) for path in paths] == [
        NEXT.join(("Instructions", "Title")),
        NEXT.join(("Skills", "tone", "SKILL.md")),
        "All fields",
        "All fields",
    ]


def test_the_scripts_get_the_labels_that_the_server_uses():
    data = labels_data()

    paths = ("(slug)", "tool_sets[].tools[].rest_api_method_info.method_url", "skills[].url")
    assert [data["fields"][path] for path in paths] == ["Name in URLs", "URL", "Path"]
    assert data["sections"]["behaviour"]["title"] == "Behavior"
    assert data["sections"]["access"] == {"title": "Access", "paths": None}


def test_every_field_on_a_card_has_one_label():
    labels = labels_data()["fields"]
    card = [(kind, one) for kind, schema in KINDS.items() for one in schema.kind.card]

    twice = [
        (kind, one.path) for kind, one in card if one.label and f"tool_sets[].{one.path}" in labels
    ]
    assert twice == []
