from typing import Any

import pytest

from apps.manifest.validation.validation import review
from tests.contract import proves
from tests.manifest.documents import (
    EXAMPLES,
    example,
    function,
    manifest,
    orchestrator,
    rest_tool,
    rest_tools,
)
from tests.tables import each_row

GATED = "is left out: it is a preview feature, and preview features are off in this installation"
TOOL = "tool_sets[0].tools[0]"


def warnings(document: object, *, preview: bool = True) -> list[tuple[str, str]]:
    return [(p.path, p.message) for p in review(document, preview=preview).warnings]


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - {"deprecated"}))
def test_a_good_manifest_needs_no_advice(name):
    assert warnings(example(name)) == []


def test_unknown_keys_are_told_wherever_they_are():
    where = {"type": "query", "key": "q", "in": "path"}
    document = manifest(
        orchestrator=orchestrator(max_iteration=3, deployment={"deployment_id": "x", "zzz": 1}),
        tool_sets=[
            rest_tools(
                rest_tool(
                    parameters={"n": {"type": "integer", "minimum": 1, "parameter_info": where}}
                )
            )
        ],
        toolsets=[],
    )

    assert warnings(document) == [
        ("toolsets", "is an unknown field and has no effect; did you mean 'tool_sets'?"),
        (
            "orchestrator.max_iteration",
            "is an unknown field and has no effect; did you mean 'max_iterations'?",
        ),
        ("orchestrator.deployment.zzz", "is an unknown field and has no effect"),
        (
            f"{TOOL}.open_ai_tool.function.parameters.properties.n.minimum",
            "is an unknown field and has no effect",
        ),
        (
            f"{TOOL}.open_ai_tool.function.parameters.properties.n.parameter_info.in",
            "is an unknown field and has no effect",
        ),
    ]


def test_a_misspelt_key_is_told_beside_the_mistake_that_it_makes():
    told = review({"orchestrator": orchestrator(), "context": [], "tool_sets": []}, preview=True)

    assert [(p.path, p.message) for p in told.errors] == [("contexts", "is missing; write a list")]
    assert [(p.path, p.message) for p in told.warnings] == [
        ("context", "is an unknown field and has no effect; did you mean 'contexts'?")
    ]


def test_what_is_free_form_has_no_unknown_keys():
    static = {"static_function": {"name": "radar", "range": 40}, "priority": 1}
    configured = {
        "deployment_id": "expert",
        "parameters": {"tools": [static], "custom_fields": {"configuration": {"any": 1}}},
    }
    document = manifest(
        tool_sets=[
            {"type": "predefined", "template_name": "x", "override": {"whatever": 1}},
            {
                "type": "dial-deployment",
                "name": "x",
                "tools": [{"deployment": configured, "open_ai_tool": function("ask")}],
            },
        ],
        hooks=[{"event": "on_request_start", "tool_name": "t", "arguments": {"any": 1}}],
    )

    assert warnings(document) == []


@proves("13.1", "m1.11", "m5")
def test_old_spellings_are_told_with_the_new_ones():
    assert warnings(example("deprecated")) == [
        ("starters", "is deprecated. Use `conversation_starters`."),
        ("orchestrator.deployment.name", "is deprecated. Use `deployment_id`."),
        ("tool_sets[0].dial_id", "is deprecated. Use `deployment_id`."),
        (
            "tool_sets[0].transport",
            "is ignored. Do not set this field, because DIAL Core determines the transport.",
        ),
        ("tool_sets[1].tools[0].deployment.name", "is deprecated. Use `deployment_id`."),
        (
            "tool_sets[1].tools[0].content_propagation.propagate_history",
            "is deprecated. Use `conversation_mode.resumable`.",
        ),
        (
            "tool_sets[1].tools[0].display.stage.show",
            "is deprecated. Use `features.stage_display.level`.",
        ),
        (
            "tool_sets[1].tools[0].fallback_configuration.strategies[0].type",
            'is deprecated. Use "continue".',
        ),
        (
            "tool_sets[1].tools[0].fallback_configuration.strategies[0].forward_tool_error_message",
            "is deprecated. Do not set this field, because the model always gets the error.",
        ),
        (
            "tool_sets[1].tools[0].fallback_configuration.strategies[1].type",
            'is deprecated. Use "hard_stop".',
        ),
    ]


def test_null_for_an_old_spelling_is_no_use_of_it():
    assert warnings(manifest(starters=None)) == []


@proves("m1.9", "G-13")
def test_descriptions_that_models_refuse_are_told():
    long = "x" * 1025
    nested = {"type": "object", "description": long, "properties": {"a": {"type": "string"}}}
    tool: dict[str, Any] = {"open_ai_tool": function("f", o=nested)}
    tool["open_ai_tool"]["function"]["description"] = long
    document = manifest(
        tool_sets=[{"type": "internal", "name": "x", "description": long, "tools": [tool]}]
    )
    message = "has 1025 characters; models accept up to 1024. Shorten it."

    assert warnings(document) == [
        (f"{TOOL}.open_ai_tool.function.description", message),
        (f"{TOOL}.open_ai_tool.function.parameters.properties.o.description", message),
    ]


def test_parameters_that_cost_much_in_every_request_are_told():
    parts = {f"p{n}": {"type": "string", "description": "x" * 1_000} for n in range(20)}
    tool: dict[str, Any] = {"open_ai_tool": function("f", **parts)}
    document = manifest(tool_sets=[{"type": "internal", "name": "x", "tools": [tool]}])
    message = (
        "has 20,910 characters, which are part of every request to the model; the recommended limit is "
        "20,000. Remove parameters that are not needed."
    )

    assert warnings(document) == [(f"{TOOL}.open_ai_tool.function.parameters", message)]


@proves("m1.11")
def test_instructions_for_every_error_are_in_vain():
    trigger = {"type": "contains", "value": "429"}
    strategies = [
        {"type": "continue", "instructions": "Wait.", "trigger_on": trigger},
        {"type": "continue", "instructions": None},
        {"type": "continue", "instructions": "Wait."},
    ]
    tool = rest_tool(fallback_configuration={"strategies": strategies})

    assert warnings(manifest(tool_sets=[rest_tools(tool)])) == [
        (
            f"{TOOL}.fallback_configuration.strategies[2].instructions",
            "is ignored, because there is no `trigger_on`. Add one.",
        )
    ]


PLACE = {"type": "query", "key": "k"}
REFUSED = "does not fit the parameter, so calls without it are rejected. Correct it."


@proves("m1.9")
@each_row(
    ("parameter", "is_told"),
    [
        ({"type": "string", "default": "x"}, False),
        ({"type": "string", "default": 5}, True),
        ({"type": "string", "enum": ["m", "ft"], "default": "mile"}, True),
        ({"type": "string", "enum": ["m", "ft"], "default": "m"}, False),
        ({"type": "integer", "default": 5}, False),
        ({"type": "integer", "default": True}, True),
        ({"type": "integer", "default": "5"}, True),
        ({"type": "number", "default": 0}, False),
        ({"type": "boolean", "default": False}, False),
        ({"type": "boolean", "default": 0}, True),
        ({"type": "array", "description": "d", "items": {"type": "string"}, "default": []}, False),
        ({"type": "object", "description": "d", "properties": {}, "default": []}, True),
        ({"type": "string", "default": None}, False),
    ],
)
def test_a_default_that_its_parameter_would_refuse_is_told(parameter, is_told):
    item = rest_tool(parameters={"a": {**parameter, "parameter_info": PLACE}})

    path = f"{TOOL}.open_ai_tool.function.parameters.properties.a.default"
    assert warnings(manifest(tool_sets=[rest_tools(item)])) == [(path, REFUSED)] * is_told


@pytest.mark.parametrize("kind", [["string"], {}, 5, "text"])
def test_a_default_of_a_type_that_is_none_breaks_nothing(kind):
    item = rest_tool(parameters={"a": {"type": kind, "default": 5, "parameter_info": PLACE}})

    assert review(manifest(tool_sets=[rest_tools(item)]), preview=True).errors != ()


def test_a_tool_without_an_address_is_told():
    empty = {"method_url": " ", "method_type": "get"}
    document = manifest(tool_sets=[rest_tools(rest_tool(rest_api_method_info=empty))])

    assert warnings(document) == [
        (
            f"{TOOL}.rest_api_method_info.method_url",
            "is empty, so every call of the tool fails. Write the URL.",
        )
    ]


def test_preview_items_are_told_when_those_are_off():
    assert warnings(example("preview"), preview=False) == [
        ("hooks", GATED),
        ("orchestrator.tool_discovery", GATED),
        ("contexts[0]", GATED),
        ("tool_sets[0].deferred", GATED),
        ("tool_sets[1].tools[0].propagate_annotations_to_choice", GATED),
        ("skills[0]", GATED),
        ("features.web_fetch", GATED),
        ("features.representation_tooling", GATED),
        ("features.subagents", GATED),
        ("features.dial_files.tool_call_result_offload", GATED),
    ]


def test_what_nobody_wrote_is_not_told():
    document = manifest(
        hooks=None,
        features={"dial_files": {}, "web_fetch": None},
        tool_sets=[rest_tools(deferred=None), rest_tools()],
    )

    assert warnings(document, preview=False) == []
