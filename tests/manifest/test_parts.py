import pytest

from apps.manifest.parts import ManifestPart, parts_in_use
from apps.manifest.validation.validation import read_manifest
from tests.manifest.documents import example, internal_tools, manifest, rest_tool, rest_tools

CLOCK = ("features.timestamp", "features.timestamp")

EXPECTED = {
    "smallest": [CLOCK],
    "rest_api": [
        ("contexts.user-defined", "contexts[0]"),
        ("tool_sets.rest-api", "tool_sets[0]"),
        CLOCK,
    ],
    "dial_deployment": [
        ("orchestrator.system_prompt.predefined", "orchestrator.system_prompt"),
        ("contexts.file", "contexts[0]"),
        ("tool_sets.dial-deployment", "tool_sets[0]"),
        ("tools.predefined-tool", "tool_sets[0].tools[0]"),
        CLOCK,
    ],
    "remote_tools": [
        ("orchestrator.attachment_strategy", "orchestrator.attachment_strategy"),
        ("tool_sets.mcp", "tool_sets[0]"),
        ("tool_sets.dial-mcp", "tool_sets[1]"),
        ("tool_sets.dial-app", "tool_sets[2]"),
        CLOCK,
    ],
    "local_tools": [("tool_sets.mcp", "tool_sets[0]"), CLOCK],
    "predefined": [
        ("orchestrator.system_prompt.dial", "orchestrator.system_prompt"),
        ("tool_sets.predefined", "tool_sets[0]"),
        ("tools.predefined-tool", "tool_sets[1].tools[0]"),
        CLOCK,
    ],
    "features": [
        ("skills.dial-prompt", "skills[0]"),
        ("features.dial_files", "features.dial_files"),
    ],
    "preview": [
        ("orchestrator.tool_discovery", "orchestrator.tool_discovery"),
        ("contexts.folder", "contexts[0]"),
        ("tool_sets.dial-app", "tool_sets[0]"),
        ("tool_sets.dial-deployment", "tool_sets[1]"),
        ("skills.dial-skill", "skills[0]"),
        ("hooks", "hooks[0]"),
        ("hooks", "hooks[1]"),
        ("hooks", "hooks[2]"),
        CLOCK,
        ("features.dial_files", "features.dial_files"),
        ("features.web_fetch", "features.web_fetch"),
        ("features.representation_tooling", "features.representation_tooling"),
        ("features.subagents", "features.subagents"),
    ],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_parts_of_an_example(name):
    expected = tuple(ManifestPart(*part) for part in EXPECTED[name])

    assert parts_in_use(read_manifest(example(name))) == expected


def test_each_internal_tool_is_a_part():
    document = manifest(tool_sets=[internal_tools("clock", "python")], features=None)

    assert parts_in_use(read_manifest(document)) == (
        ManifestPart("tool_sets.internal.clock", "tool_sets[0].tools[0]"),
        ManifestPart("tool_sets.internal.python", "tool_sets[0].tools[1]"),
    )


def test_what_is_disabled_is_not_in_use():
    document = manifest(
        tool_sets=[
            rest_tools(rest_tool(), enabled=False),
            internal_tools("clock", enabled=False),
            rest_tools({"template_name": "x", "enabled": False}),
        ],
        features={
            "timestamp": None,
            "web_fetch": {},
            "subagents": {"enabled": False},
            "representation_tooling": {"add_attachment": False},
            "questions": None,
            "search_conversations": {},
        },
        orchestrator={"deployment": {"deployment_id": "x"}, "tool_discovery": {}},
        hooks=[],
    )

    assert parts_in_use(read_manifest(document)) == (
        ManifestPart("tool_sets.rest-api", "tool_sets[2]"),
    )


def test_a_feature_without_a_switch_is_in_use_where_it_is_written():
    assert parts_in_use(read_manifest(manifest(features={"timestamp": None, "questions": {}}))) == (
        ManifestPart("features.questions", "features.questions"),
    )


def test_the_clock_is_in_use_unless_it_is_refused():
    assert parts_in_use(read_manifest(manifest(features={}))) == (ManifestPart(*CLOCK),)
    assert parts_in_use(read_manifest(manifest(features=None))) == ()
