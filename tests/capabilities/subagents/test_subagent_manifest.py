from typing import Any

from apps.capabilities.subagents.subagent_manifest import SubagentKind, manifest_of
from apps.manifest.manifest import Manifest
from apps.manifest.validation.validation import read_manifest
from tests.manifest.documents import example, internal_tools, manifest, rest_tools


def subagent_of(document: Manifest, *chosen: str) -> Manifest:
    return manifest_of(document, SubagentKind("You help.", chosen))


def with_subagents(**members: Any) -> Manifest:
    features = {"subagents": {"enabled": True}}
    return read_manifest(manifest(**{"features": features, **members}), preview=True)


def test_a_subagent_is_its_application_without_subagents_and_starters():
    document = read_manifest(example("preview"), preview=True)

    subagent = subagent_of(document)

    assert document.features is not None
    assert subagent.features is not None
    assert subagent.features.subagents is None
    assert (subagent.starters, subagent.conversation_starters) == (None, None)
    assert subagent.orchestrator.deployment == document.orchestrator.deployment
    assert subagent.orchestrator.max_iterations == document.orchestrator.max_iterations
    assert subagent.contexts == document.contexts
    assert subagent.skills == document.skills
    assert subagent.features.model_copy(update={"subagents": document.features.subagents}) == (
        document.features
    )
    assert read_manifest(example("preview"), preview=True) == document


def test_toolsets_that_were_not_chosen_are_switched_off_where_they_stand():
    document = with_subagents(
        tool_sets=[
            rest_tools(name="Shop"),
            rest_tools(name={"en": "Bank", "fr": "Banque"}),
            {"type": "predefined", "template_name": "missing"},
            internal_tools("internal_x"),
        ]
    )

    subagent = subagent_of(document, "Bank")

    assert [getattr(toolset, "enabled", None) for toolset in subagent.tool_sets] == [
        False, True, None, False,
    ]  # fmt: skip
    assert subagent.tool_sets[1] == document.tool_sets[1]


def hook(tool_name: str, toolset_name: str | None = None) -> dict[str, Any]:
    return {"event": "on_request_start", "tool_name": tool_name, "toolset_name": toolset_name}


def test_hooks_go_along_as_far_as_their_tools_do():
    tools = [{"type": "dial-deployment-simple", "deployment_id": "poet"}]
    document = with_subagents(
        tool_sets=[
            rest_tools(name={"en": "Shop", "de": "Laden"}),
            rest_tools(name="Bank"),
            internal_tools("internal_x"),
            {"type": "dial-deployment", "name": "experts", "tools": tools},
        ],
        hooks=[
            hook("act", "Laden"),
            hook("act", "Bank"),
            hook("poet"),
            hook("internal_x"),
            hook("internal_y"),
        ],
    )

    def left(*chosen: str) -> list[str]:
        subagent = subagent_of(document, *chosen)
        return [one.toolset_name or one.tool_name for one in subagent.hooks or ()]

    assert left() == ["internal_y"]
    assert left("Shop", "experts") == ["Laden", "poet", "internal_y"]
    assert left("Bank", "inside") == ["Bank", "internal_x", "internal_y"]
