import pytest

from apps.manifest.mcp_toolsets import McpToolSet
from apps.manifest.validation import ManifestInvalid, read
from tests.contract import proves
from tests.manifest.documents import EXAMPLES, example, manifest, rest_tools


@proves("7.4", "m1.8")
def test_without_preview_its_features_read_as_null_and_its_models_are_gone():
    found = read(example("preview"), preview=False).model_dump(mode="json", exclude_unset=True)

    assert found == {
        "orchestrator": {"deployment": {"deployment_id": "harbour-chat"}, "tool_discovery": None},
        "contexts": [],
        "tool_sets": [
            {
                "type": "dial-app",
                "name": "Logbook",
                "deployment_id": "logbook-app",
                "transport": "mcp",
                "deferred": None,
                "allowed_tools": ["open", "note", "look_up"],
            },
            {
                "type": "dial-deployment",
                "name": "papers",
                "deferred": None,
                "tools": [
                    {
                        "type": "dial-deployment-simple",
                        "deployment_id": "paper-reader",
                        "propagate_annotations_to_choice": None,
                    }
                ],
            },
        ],
        "skills": [],
        "hooks": None,
        "features": {
            "web_fetch": None,
            "representation_tooling": None,
            "dial_files": {"tool_call_result_offload": None},
            "subagents": None,
        },
    }


@proves("6.3")
def test_hidden_tools_are_visible_without_preview():
    server = {"protocol": "stdio", "server": "time"}
    toolset = {"type": "mcp", "name": "x", "mcp_server_info": server, "hidden_from_model": ["a"]}
    document = manifest(tool_sets=[toolset])

    found = []
    for preview in (True, False):
        (read_toolset,) = read(document, preview=preview).tool_sets
        assert isinstance(read_toolset, McpToolSet)
        found.append(read_toolset.hidden_from_model)

    assert found == [("a",), None]


@proves("6.3")
def test_a_hidden_tool_that_is_not_allowed_is_a_mistake_with_preview_and_without():
    """The manifest is checked first, and then what belongs to preview features is taken out."""
    server = {"protocol": "stdio", "server": "time"}
    toolset = {"type": "mcp", "name": "x", "mcp_server_info": server, "hidden_from_model": ["b"]}

    for preview in (True, False):
        with pytest.raises(ManifestInvalid) as refused:
            read(manifest(tool_sets=[{**toolset, "allowed_tools": ["a"]}]), preview=preview)
        assert [problem.message for problem in refused.value.problems] == [
            "`hidden_from_model` names 'b', not in `allowed_tools`; add it there too"
        ]
        everything: tuple[object, ...] = (None, [])
        for allowed in everything:
            read(manifest(tool_sets=[{**toolset, "allowed_tools": allowed}]), preview=preview)


def test_a_preview_feature_that_is_on_by_default_is_off_without_preview():
    document = manifest(features={"dial_files": {}}, tool_sets=[rest_tools()])

    gated, whole = read(document, preview=False), read(document)

    assert whole.features is not None
    assert whole.features.dial_files is not None
    assert whole.features.dial_files.tool_call_result_offload is not None
    assert gated.features is not None
    assert gated.features.dial_files is not None
    assert gated.features.dial_files.tool_call_result_offload is None


def test_the_other_items_of_a_list_stay():
    document = manifest(
        contexts=[
            {"type": "user-defined", "content": "a"},
            {"type": "folder", "url": "files/b/"},
            {"type": "file", "url": "files/c"},
        ]
    )

    assert [c.type for c in read(document, preview=False).contexts] == ["user-defined", "file"]


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - {"preview", "memory_service"}))
def test_without_preview_a_manifest_that_uses_none_says_the_same(name):
    gates = {"deferred", "tool_call_result_offload"}
    gated = read(example(name), preview=False).model_dump(mode="json", exclude_unset=True)
    whole = read(example(name)).model_dump(mode="json", exclude_unset=True)

    assert without(gated, gates) == without(whole, gates)


def without(value: object, keys: set[str]) -> object:
    if isinstance(value, dict):
        return {k: without(v, keys) for k, v in value.items() if k not in keys or v is not None}
    return [without(item, keys) for item in value] if isinstance(value, list) else value
