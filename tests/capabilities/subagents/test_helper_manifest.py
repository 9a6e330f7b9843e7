from typing import Any

from apps.capabilities.subagents.helper_manifest import HelperKind, manifest_of
from apps.manifest.manifest import Manifest
from apps.manifest.validation import read
from tests.manifest.documents import example, internal_tools, manifest, rest_tools


def helper_of(document: Manifest, *chosen: str) -> Manifest:
    return manifest_of(document, HelperKind("You help.", chosen))


def with_helpers(**members: Any) -> Manifest:
    features = {"subagents": {"enabled": True}}
    return read(manifest(**{"features": features, **members}), preview=True)


def test_a_helper_is_its_application_without_helpers_and_starters():
    document = read(example("preview"), preview=True)

    helper = helper_of(document)

    assert document.features is not None
    assert helper.features is not None
    assert helper.features.subagents is None
    assert (helper.starters, helper.conversation_starters) == (None, None)
    assert helper.orchestrator.deployment == document.orchestrator.deployment
    assert helper.orchestrator.max_iterations == document.orchestrator.max_iterations
    assert helper.contexts == document.contexts
    assert helper.skills == document.skills
    assert helper.features.model_copy(update={"subagents": document.features.subagents}) == (
        document.features
    )
    assert read(example("preview"), preview=True) == document


def test_toolsets_that_were_not_chosen_are_switched_off_where_they_stand():
    document = with_helpers(
        tool_sets=[
            rest_tools(name="Shop"),
            rest_tools(name={"en": "Bank", "fr": "Banque"}),
            {"type": "predefined", "template_name": "missing"},
            internal_tools("internal_x"),
        ]
    )

    helper = helper_of(document, "Bank")

    assert [getattr(toolset, "enabled", None) for toolset in helper.tool_sets] == [
        False, True, None, False,
    ]  # fmt: skip
    assert helper.tool_sets[1] == document.tool_sets[1]


def hook(tool_name: str, toolset_name: str | None = None) -> dict[str, Any]:
    return {"event": "on_request_start", "tool_name": tool_name, "toolset_name": toolset_name}


def test_hooks_go_along_as_far_as_their_tools_do():
    tools = [{"type": "dial-deployment-simple", "deployment_id": "poet"}]
    document = with_helpers(
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
        helper = helper_of(document, *chosen)
        return [one.toolset_name or one.tool_name for one in helper.hooks or ()]

    assert left() == ["internal_y"]
    assert left("Shop", "experts") == ["Laden", "poet", "internal_y"]
    assert left("Bank", "inside") == ["Bank", "internal_x", "internal_y"]
