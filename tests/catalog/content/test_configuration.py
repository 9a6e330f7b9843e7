from __future__ import annotations

import json
from typing import Any

import pytest

from apps.catalog.content.configuration import default_configuration
from tests.catalog.content.files import content
from tests.contract import proves
from tests.manifest.documents import rest_tool, rest_tools

SHIP = rest_tool("ship", type="restapi-tool")
HARBOUR = rest_tools({"template_name": "ship"}, {"template_name": "gone"}, name="Harbour")
PROMPT = {"orchestrator": {"system_prompt": {"type": "predefined", "template": "polite"}}}


def configured(tmp_path: Any, configuration: Any) -> dict[str, Any]:
    (tmp_path / "default_configuration.json").write_text(json.dumps(configuration))
    return default_configuration(content(tmp_path, tool__ship=SHIP, toolset__harbour=HARBOUR))


@proves("m4.3")
def test_only_toolsets_are_written_out_and_what_cannot_be_is_left_out(tmp_path, caplog):
    off = {"type": "predefined-tool", "template_name": "x", "enabled": False}
    tool_sets = [
        {"type": "predefined", "template_name": "harbour", "override": {"description": "Ships."}},
        {"type": "predefined", "template_name": "nowhere"},
        rest_tools(SHIP, off, name="own"),
    ]

    found = configured(tmp_path, {**PROMPT, "tool_sets": tool_sets})

    expanded = {**HARBOUR, "description": "Ships.", "tools": [SHIP]}
    assert found == {**PROMPT, "tool_sets": [expanded, rest_tools(SHIP, off, name="own")]}
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        (
            "default_configuration.json: tool_sets[0].tools[1]: In the predefined toolset "
            "'harbour': There is no predefined tool 'gone'; there are 'ship'."
        ),
        (
            "default_configuration.json: tool_sets[1]: There is no predefined toolset 'nowhere'; "
            "there are 'harbour'."
        ),
    ]


@proves("m4.3")
@pytest.mark.parametrize("tool_sets", [None, {}, 5, "x", [5], [{"type": "soap"}], []])
def test_what_is_no_list_of_toolsets_is_given_as_it_is(tmp_path, tool_sets):
    assert configured(tmp_path, {"tool_sets": tool_sets}) == {"tool_sets": tool_sets}


@proves("m4.2")
@pytest.mark.parametrize("written", [b"{", b"[]", b"\xff", None])
def test_a_file_that_is_no_object_counts_as_empty(tmp_path, written):
    if written is not None:
        (tmp_path / "default_configuration.json").write_bytes(written)

    assert default_configuration(content(tmp_path)) == {}


KEYED = rest_tools(SHIP, name="Keyed", authorization={"type": "bearer", "token": "sk-marked-0123"})


@pytest.mark.parametrize("token", ["sk-marked-0123", {"$secret": "shop"}])
def test_what_has_credentials_stays_a_reference(tmp_path, token):
    reference = {"type": "predefined", "template_name": "keyed", "override": {"name": "Mine"}}
    configuration = {"tool_sets": [reference]}
    (tmp_path / "default_configuration.json").write_text(json.dumps(configuration))
    keyed = {**KEYED, "authorization": {"type": "bearer", "token": token}}

    found = default_configuration(content(tmp_path, toolset__keyed=keyed))

    assert found == configuration


@pytest.mark.parametrize("tool_sets", [[KEYED], [KEYED, 5], {"a": KEYED}])
def test_a_plain_credential_of_the_configuration_is_not_given(tmp_path, tool_sets):
    found = configured(tmp_path, {"tool_sets": tool_sets})

    assert "sk-marked-0123" not in json.dumps(found)
    assert "$hidden" in json.dumps(found)
