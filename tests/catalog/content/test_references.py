from __future__ import annotations

from typing import Any

import pytest

from apps.catalog.content.layers import Content
from apps.catalog.content.references import ReferenceProblem, ResolvedReferences, resolve_references
from apps.manifest.kinds.internal import InternalToolSet
from apps.manifest.kinds.rest import RestToolSet
from apps.manifest.parts import parts_in_use
from apps.manifest.prompts import PredefinedSystemPrompt
from apps.manifest.validation.validation import read_manifest
from tests.catalog.content.files import content
from tests.contract import proves
from tests.manifest.documents import function, manifest, orchestrator, rest_tool, rest_tools

SHIP = rest_tool("ship", type="restapi-tool", attachment={"supported_types": ["text/*"]})
HARBOUR = rest_tools({"template_name": "ship"}, name="Harbour", description="Ships.")


def resolved(
    content: Content, *tool_sets: Any, preview: bool = True, **members: Any
) -> ResolvedReferences:
    document = manifest(tool_sets=list(tool_sets), **{"features": None, **members})
    return resolve_references(read_manifest(document), content, preview=preview)


def toolset(template: str, /, **override: Any) -> dict[str, Any]:
    return {"type": "predefined", "template_name": template, "override": override or None}


def tool(name: str, override: Any = None, **rest: Any) -> dict[str, Any]:
    return {"type": "predefined-tool", "template_name": name, "override": override, **rest}


@proves("m4.3")
def test_a_toolset_and_the_tools_in_it_become_what_they_stand_for(tmp_path):
    found = resolved(
        content(tmp_path, tool__ship=SHIP, toolset__harbour=HARBOUR), toolset("harbour")
    )

    expected = read_manifest(manifest(tool_sets=[{**HARBOUR, "tools": [SHIP]}], features=None))
    assert found == ResolvedReferences(expected, ())
    assert [part.name for part in parts_in_use(found.manifest)] == ["tool_sets.rest-api"]


@proves("m4.3")
def test_a_tool_of_an_inline_toolset_becomes_what_it_stands_for(tmp_path):
    inline = rest_tools(SHIP, tool("ship", {"open_ai_tool": {"function": {"name": "boat"}}}))

    found = resolved(content(tmp_path, tool__ship=SHIP), inline)

    (harbour,) = found.manifest.tool_sets
    assert isinstance(harbour, RestToolSet)
    names = [t.open_ai_tool.function.name for t in harbour.tools]  # type: ignore[union-attr]
    assert (names, found.problems) == (["ship", "boat"], ())


@proves("m4.4")
def test_patches_may_add_what_has_a_type(tmp_path):
    parameter = {"type": "string", "parameter_info": {"type": "query", "key": "flag"}}
    patch = {
        "open_ai_tool": {"function": {"parameters": {"properties": {"type": parameter}}}},
        "fallback_configuration": {"strategies": [{"type": "continue"}]},
        "attachment": None,
    }

    found = resolved(content(tmp_path, tool__ship=SHIP), rest_tools(tool("ship", patch)))

    assert found.problems == ()
    written = found.manifest.model_dump()["tool_sets"][0]["tools"][0]
    assert (
        written["open_ai_tool"]["function"]["parameters"]["properties"]["type"]["type"] == "string"
    )
    assert [s["type"] for s in written["fallback_configuration"]["strategies"]] == ["continue"]
    assert written["attachment"]["supported_types"] == ("*/*",)


def test_two_references_to_one_template_do_not_share_their_patches(tmp_path):
    found = resolved(
        content(tmp_path, tool__ship=SHIP, toolset__harbour=HARBOUR),
        toolset("harbour", name="One", description=None),
        toolset("harbour", name="Two"),
    )

    told = [(item.name, item.description) for item in found.manifest.tool_sets]  # type: ignore[union-attr]
    assert told == [("One", None), ("Two", "Ships.")]


def test_a_template_may_stand_for_another_one_and_patch_it(tmp_path):
    found = resolved(
        content(
            tmp_path,
            tool__ship=SHIP,
            tool__boat=tool("ship", {"open_ai_tool": {"function": {"name": "boat"}}}),
            toolset__harbour=HARBOUR,
            toolset__port=toolset("harbour", name="Port", description="Boats."),
        ),
        toolset("port", description="All.", tools=[tool("boat")]),
    )

    (port,) = found.manifest.tool_sets
    assert isinstance(port, RestToolSet)
    assert (port.name, port.description, found.problems) == ("Port", "All.", ())
    assert port.tools[0].open_ai_tool.function.name == "boat"  # type: ignore[union-attr]


def test_a_template_that_switches_off_what_it_stands_for_keeps_it_off(tmp_path):
    found = resolved(
        content(tmp_path, tool__ship=SHIP, tool__none=tool("ship", enabled=False)),
        rest_tools(tool("none")),
    )

    assert found.manifest.tool_sets[0].tools[0].enabled is False  # type: ignore[union-attr]
    assert found.problems == ()


def test_circles_are_found(tmp_path):
    found = resolved(
        content(
            tmp_path,
            toolset__me=toolset("me"),
            toolset__a=toolset("b"),
            toolset__b=toolset("c"),
            toolset__c=toolset("b"),
            tool__x=tool("y"),
            tool__y={"template_name": "x"},
        ),
        toolset("me"),
        toolset("a"),
        rest_tools(tool("x"), name="own"),
    )

    circle = "The references between {} templates form a cycle: {}."
    assert found.problems == (
        ReferenceProblem("tool_sets[0]", circle.format("toolset", "me → me")),
        ReferenceProblem("tool_sets[1]", circle.format("toolset", "b → c → b")),
        ReferenceProblem("tool_sets[2].tools[0]", circle.format("tool", "x → y → x")),
    )


@proves("m4.3")
def test_what_leads_nowhere_stays_in_its_place_and_the_rest_goes_on(tmp_path):
    found = resolved(
        content(tmp_path, tool__ship=SHIP, toolset__harbour=HARBOUR),
        toolset("harbor"),
        rest_tools(tool("shipp"), tool("ship"), name="own"),
        toolset("harbour"),
    )

    gone, own, harbour = found.manifest.tool_sets
    assert found.problems == (
        ReferenceProblem(
            "tool_sets[0]", "There is no predefined toolset 'harbor'; did you mean 'harbour'?"
        ),
        ReferenceProblem(
            "tool_sets[1].tools[0]", "There is no predefined tool 'shipp'; did you mean 'ship'?"
        ),
    )
    assert [item.type for item in (gone, own, harbour)] == ["predefined", "rest-api", "rest-api"]
    kinds = [item.type for item in own.tools]  # type: ignore[union-attr]
    assert kinds == ["predefined-tool", "restapi-tool"]
    assert found.problems[0].issue.is_hard


@proves("m4.3")
def test_what_is_switched_off_is_not_even_looked_for(tmp_path):
    found = resolved(
        content(tmp_path),
        rest_tools(tool("nowhere"), enabled=False),
        rest_tools(tool("nowhere", {"x": 1}, enabled=False), name="own"),
    )

    assert found.problems == ()
    assert parts_in_use(found.manifest)[0].path == "tool_sets[1]"


@proves("m4.4")
def test_a_patch_of_the_items_own_type_costs_the_item_alone(tmp_path):
    named = {"type": "mcp"}
    found = resolved(
        content(
            tmp_path,
            tool__ship=SHIP,
            tool__boat={"template_name": "ship", "override": named},
            toolset__harbour=HARBOUR,
        ),
        toolset("harbour", **named),
        rest_tools(tool("ship", named), tool("ship"), tool("boat"), name="own"),
        rest_tools(tool("ship", named, enabled=False), name="off"),
    )

    said = "The patch of the predefined {} contains `type`, which cannot be patched because it identifies the template; remove it, or write the tool out."
    assert found.problems == (
        ReferenceProblem("tool_sets[0]", said.format("toolset 'harbour'")),
        ReferenceProblem("tool_sets[1].tools[0]", said.format("tool 'ship'")),
        ReferenceProblem("tool_sets[1].tools[2]", said.format("tool 'ship'")),
    )
    kinds = [item.type for item in found.manifest.tool_sets[1].tools]  # type: ignore[union-attr]
    assert kinds == ["predefined-tool", "restapi-tool", "predefined-tool"]


@proves("m4.3")
def test_what_is_invalid_with_its_patch_is_told_with_its_places(tmp_path):
    found = resolved(
        content(tmp_path, tool__ship=SHIP, toolset__harbour=HARBOUR),
        toolset("harbour", name=5, tools="all"),
        rest_tools(tool("ship", {"rest_api_method_info": {"method_type": "fly"}}), name="own"),
    )

    assert found.problems == (
        ReferenceProblem(
            "tool_sets[0]",
            "The predefined toolset 'harbour' is not valid.",
            (
                "name: expected a string or an object, found the integer 5",
                'tools: expected a list, found the string "all"',
            ),
        ),
        ReferenceProblem(
            "tool_sets[1].tools[0]",
            "The predefined tool 'ship' is not valid.",
            (
                'rest_api_method_info.method_type: expected "get", "post", "put" or "delete", '
                'found the string "fly"',
            ),
        ),
    )


def test_a_tool_has_to_fit_the_kind_of_its_toolset(tmp_path):
    inside = {"type": "internal-tool", "open_ai_tool": function("clock")}
    found = resolved(
        content(tmp_path, tool__clock=inside),
        rest_tools(tool("clock")),
        {"type": "internal", "name": "inside", "tools": [tool("clock")]},
    )

    (problem,) = found.problems
    assert problem.sentence == (
        "The predefined tool 'clock' is not valid. type: expected \"restapi-tool\" or "
        '"predefined-tool", found the string "internal-tool"'
    )
    assert isinstance(found.manifest.tool_sets[1], InternalToolSet)
    assert found.manifest.tool_sets[1].tools[0].type == "internal-tool"


def test_files_that_cannot_be_read_and_templates_of_no_kind_are_told(tmp_path):
    found = resolved(
        content(
            tmp_path,
            toolset__broken=b"{",
            toolset__kindless={"name": "x"},
            toolset__alias={"type": "predefined"},
            tool__odd={"name": "x"},
        ),
        toolset("broken"),
        toolset("kindless"),
        toolset("alias"),
        rest_tools(tool("odd", {"template_name": "odd"})),
    )

    sentences = [problem.sentence for problem in found.problems]
    assert sentences[0].startswith(
        "The predefined toolset 'broken' cannot be read. Line 1, column 2"
    )
    assert sentences[1].startswith(
        "The predefined toolset 'kindless' is not valid. type: is missing"
    )
    assert sentences[2] == (
        "The predefined toolset 'alias' is not valid. template_name: is missing; write a string"
    )
    assert sentences[3] == (
        "The patch turns the tool 'odd' into a reference to another template; refer to that template directly."
    )


def test_no_secret_of_a_patch_is_repeated(tmp_path):
    found = resolved(
        content(tmp_path, toolset__harbour=HARBOUR),
        toolset("harbour", authorization={"type": "bearer", "token": ["s3cret"]}),
    )

    assert "s3cret" not in found.problems[0].sentence
    assert "authorization.token" in found.problems[0].sentence


@proves("m4.3")
def test_a_prompt_gets_its_text_and_other_text_is_never_believed(tmp_path):
    prompt = {"type": "predefined", "template": "polite", "content": "Obey me."}

    found = resolved(
        content(tmp_path, prompt__polite="Be polite on {today}."),
        orchestrator=orchestrator(system_prompt=prompt),
    )

    assert found.manifest.orchestrator.system_prompt == PredefinedSystemPrompt(
        template="polite", content="Be polite on {today}."
    )
    assert parts_in_use(found.manifest) == ()


@proves("m4.3")
def test_without_its_prompt_an_application_must_not_answer(tmp_path):
    prompt = {"type": "predefined", "template": "polit"}

    found = resolved(
        content(tmp_path, prompt__polite="Be polite."),
        orchestrator=orchestrator(system_prompt=prompt),
    )

    assert found.problems == (
        ReferenceProblem(
            "orchestrator.system_prompt.template",
            "There is no predefined prompt 'polit'; did you mean 'polite'?",
            is_fatal=True,
        ),
    )


def test_templates_have_no_preview_features_where_those_are_off(tmp_path):
    layer = content(tmp_path, toolset__harbour={**HARBOUR, "deferred": False, "tools": []})

    with_them = resolved(layer, toolset("harbour")).manifest.tool_sets[0]
    without = resolved(layer, toolset("harbour"), preview=False).manifest.tool_sets[0]

    assert isinstance(with_them, RestToolSet)
    assert isinstance(without, RestToolSet)
    assert (with_them.deferred, without.deferred) == (False, None)


@proves("m4.1")
@pytest.mark.parametrize("name", ["", "../../etc/passwd", "\0", "x" * 100_000, "ship.json", "SHIP"])
def test_names_are_names_and_never_paths(tmp_path, name):
    found = resolved(content(tmp_path, tool__ship=SHIP), rest_tools(tool(name)))

    (problem,) = found.problems
    assert problem.message.startswith("There is no predefined tool '")
    assert len(problem.message) < 300
