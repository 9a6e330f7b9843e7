"""Any patch either makes a reference valid or is a problem with a location."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from apps.catalog.content.items import item_of
from apps.catalog.content.layers import Content, ContentRows, read_layers
from apps.catalog.content.references import resolve_references
from apps.manifest.kinds.predefined import PredefinedToolSet
from apps.manifest.toolsets.tools import PredefinedTool, apply_patch
from apps.manifest.validation.validation import read_manifest
from tests.contract import proves
from tests.manifest.documents import manifest, rest_tool, rest_tools

SHIP = rest_tool("ship", type="restapi-tool")
HARBOUR = rest_tools({"template_name": "ship"}, name="Harbour")
KEYS = (
    "name",
    "type",
    "tools",
    "enabled",
    "description",
    "authorization",
    "open_ai_tool",
    "function",
    "parameters",
    "properties",
    "template_name",
    "override",
    "fallback_configuration",
    "strategies",
    "rest_api_method_info",
)


def layer(tool: Any, toolset: Any) -> Content:
    items = (
        item_of("tool", "ship", "database", "tool", json.dumps(tool)),
        item_of("toolset", "harbour", "database", "toolset", json.dumps(toolset)),
    )
    return read_layers((), ContentRows({number: (1, item) for number, item in enumerate(items)}))


CONTENT = layer(SHIP, HARBOUR)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5) | st.sampled_from(KEYS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=12,
)
patches = st.dictionaries(st.sampled_from(KEYS), values, max_size=4)


@proves("m4.4")
@given(patches, patches)
def test_every_patch_resolves_or_is_told_with_its_place(outer: Any, inner: Any):
    tool = {"type": "predefined-tool", "template_name": "ship", "override": inner}
    references = [
        {"type": "predefined", "template_name": "harbour", "override": outer},
        rest_tools(tool, name="own"),
    ]
    document = read_manifest(manifest(tool_sets=references))

    found = resolve_references(document, CONTENT)

    left = [
        *(t for t in found.manifest.tool_sets if isinstance(t, PredefinedToolSet)),
        *(
            tool
            for toolset in found.manifest.tool_sets
            for tool in getattr(toolset, "tools", ())
            if isinstance(tool, PredefinedTool)
            and tool.enabled
            and getattr(toolset, "enabled", True)
        ),
    ]
    assert len(left) == len(found.problems)
    assert all(problem.path.startswith("tool_sets[") for problem in found.problems)
    assert all(problem.message for problem in found.problems)


@proves("m4.4")
@given(values, values)
def test_a_patch_does_nothing_the_second_time(target: Any, patch: Any):
    once = apply_patch(target, patch)

    assert apply_patch(once, patch) == once


@proves("m4.4")
@given(values, values)
def test_a_patch_changes_neither_what_it_patches_nor_itself(target: Any, patch: Any):
    before = copy.deepcopy((target, patch))

    apply_patch(target, patch)

    assert (target, patch) == before


@proves("m4.4")
@given(patches, patches)
def test_no_null_of_a_patch_is_left_in_an_object(first: Any, second: Any):
    """Nulls in lists stay, because the RFC keeps lists unchanged."""
    merged = apply_patch(apply_patch({}, first), second)

    assert not has_null(merged)


def has_null(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return any(member is None or has_null(member) for member in value.values())


@given(values)
def test_an_empty_patch_keeps_an_object(target: Any):
    assert apply_patch(target, {}) == (target if isinstance(target, dict) else {})


def test_a_patch_may_bring_fallbacks_parameters_and_credentials():
    parameter = {"type": "string", "parameter_info": {"type": "query", "key": "flag"}}
    tool = {
        "type": "predefined-tool",
        "template_name": "ship",
        "override": {
            "open_ai_tool": {"function": {"parameters": {"properties": {"flag": parameter}}}},
            "fallback_configuration": {"strategies": [{"type": "continue"}]},
        },
    }
    authorization = {"type": "bearer", "token": "t"}
    reference = {
        "type": "predefined",
        "template_name": "harbour",
        "override": {"tools": [tool], "authorization": authorization},
    }

    found = resolve_references(read_manifest(manifest(tool_sets=[reference])), CONTENT)

    assert found.problems == ()
    written = found.manifest.model_dump(mode="json")["tool_sets"][0]
    function = written["tools"][0]["open_ai_tool"]["function"]
    assert "flag" in function["parameters"]["properties"]
    assert written["authorization"]["type"] == "bearer"
    strategies = written["tools"][0]["fallback_configuration"]["strategies"]
    assert [strategy["type"] for strategy in strategies] == ["continue"]
