"""Definitions of tools: every key with its default, and invalid tools."""

import copy
from typing import Any

import pytest

from apps.manifest.toolsets.fallback_strategies import Retry
from apps.manifest.toolsets.parameters import ParameterStage
from apps.manifest.toolsets.tools import ToolStage, apply_patch
from apps.manifest.validation.validation import read_manifest, review
from tests.contract import proves
from tests.manifest.documents import function, manifest, rest_tool, rest_tools
from tests.tables import each_row

PLACE = {"type": "query", "key": "q"}
ATTACHMENT = {
    "supported_types": ("*/*",),
    "propagate_types_to_choice": ("image/*", "application/vnd.plotly.v1+json"),
    "propagate_types_to_text": (),
    "media_type_substitution": {},
}
FALLBACK = {
    "strategies": (
        {
            "trigger_on": None,
            "type": "continue",
            "instructions": None,
            "retry": None,
            "forward_tool_error_message": False,
        },
    ),
    "display_error_in_stage": True,
}
SERVER = {"url": "https://mcp.example.org/", "protocol": "sse"}


def toolset(**members: Any) -> dict[str, Any]:
    """Return the parsed toolset."""
    (found,) = read_manifest(manifest(tool_sets=[members])).model_dump()["tool_sets"]
    return dict(found)


def problems(*tool_sets: dict[str, Any]) -> list[tuple[str, str]]:
    found = review(manifest(tool_sets=list(tool_sets)), preview=True).errors
    return [(problem.path, problem.message) for problem in found]


@proves("13.1", "m1.8")
def test_what_a_tool_does_not_say_is_filled_in():
    (tool,) = toolset(**rest_tools(rest_tool()))["tools"]

    assert tool == {
        "attachment": ATTACHMENT,
        "fallback_configuration": FALLBACK,
        "display": None,
        "approval": None,
        "enabled": True,
        "is_repeatable": None,
        "is_untrusted": None,
        "type": "restapi-tool",
        "open_ai_tool": {
            "type": "function",
            "function": {
                "name": "act",
                "description": "Do it.",
                "parameters": {"type": "object", "properties": {}, "required": None},
            },
        },
        "rest_api_method_info": {"method_url": "https://api.example.org/act", "method_type": "get"},
        "response_as_attachment": None,
    }


@proves("m1.8")
def test_what_a_tool_of_a_deployment_does_not_say_is_filled_in():
    deployment = {"deployment_id": "expert"}
    full = {"deployment": deployment, "open_ai_tool": function("ask")}

    written, simple, predefined = toolset(
        type="dial-deployment", name="Team", tools=[full, deployment, {"template_name": "weather"}]
    )["tools"]

    assert {key: value for key, value in written.items() if key != "open_ai_tool"} == {
        "attachment": ATTACHMENT,
        "fallback_configuration": FALLBACK,
        "display": None,
        "approval": None,
        "enabled": True,
        "is_repeatable": None,
        "is_untrusted": None,
        "type": "deployment-tool",
        "deployment": {
            "deployment_id": "expert",
            "name": "",
            "parameters": {
                **dict.fromkeys(
                    (
                        "temperature",
                        "top_p",
                        "seed",
                        "stop",
                        "n",
                        "max_tokens",
                        "presence_penalty",
                        "frequency_penalty",
                        "reasoning_effort",
                        "custom_fields",
                        "tools",
                    )
                )
            },
        },
        "system_prompt": None,
        "content_propagation": None,
        "conversation_mode": None,
        "propagate_annotations_to_choice": None,
        "is_optional": False,
        "query_parameter": "query",
        "takes_files": True,
        "sends_configuration": False,
        "supports_url_attachments": False,
    }
    assert simple == {
        "type": "dial-deployment-simple",
        "deployment_id": "expert",
        "approval": None,
        "enabled": True,
        "conversation_mode": None,
        "propagate_annotations_to_choice": None,
    }
    assert predefined == {
        "type": "predefined-tool",
        "template_name": "weather",
        "enabled": True,
        "override": None,
    }


@proves("m1.8", "m1.9")
def test_displays_have_defaults():
    assert ToolStage().model_dump() == {
        "name": None,
        "body": None,
        "show": True,
        "defer_close": False,
    }
    assert ParameterStage().model_dump() == {
        "ignore": False,
        "ignore_parameter_name": False,
        "show_value_in_stage_title": False,
        "name": None,
        "prefix": None,
        "suffix": None,
        "replaced_value_info": None,
        "format": None,
        "order": 0,
    }


@proves("m1.11")
def test_an_old_strategy_has_instructions_of_its_own():
    assert Retry().instructions == (
        "The tool failed. Find out why, correct the call and try it again."
    )


@proves("m1.9")
def test_nested_values_lose_what_only_parameters_have():
    inner = {"type": "string", "default": "x", "display": {"stage": {"ignore": True}}}
    outer = {"type": "array", "description": "d", "items": inner, "parameter_info": PLACE}

    (tool,) = toolset(**rest_tools(rest_tool(parameters={"tags": outer})))["tools"]

    tags = tool["open_ai_tool"]["function"]["parameters"]["properties"]["tags"]
    assert tags == {
        "parameter_info": {**PLACE, "encoding": "text"},
        "display": None,
        "default": None,
        "type": "array",
        "items": {"type": "string", "description": None, "enum": None},
        "description": "d",
    }


@proves("m1.9")
@pytest.mark.parametrize("const", ["s", 0, False, None, [1], {"a": None}])
def test_a_constant_may_be_any_value(const):
    constant = {"type": None, "const": const, "parameter_info": PLACE}

    (tool,) = toolset(**rest_tools(rest_tool(parameters={"key": constant})))["tools"]

    properties = tool["open_ai_tool"]["function"]["parameters"]["properties"]
    assert (properties["key"]["type"], properties["key"]["const"]) == (None, const)


@proves("13.1", "m1.8", "m1.9", "m1.11")
@pytest.mark.parametrize(
    ("tool", "found"),
    [
        (
            rest_tool(parameters={"k": {"type": None, "parameter_info": PLACE}}),
            [("open_ai_tool.function.parameters.properties.k.const", "is missing; write a value")],
        ),
        (
            rest_tool(
                parameters={"k": {"type": "object", "properties": {}, "parameter_info": PLACE}}
            ),
            [
                (
                    "open_ai_tool.function.parameters.properties.k.description",
                    "is missing; write a string",
                )
            ],
        ),
        (
            rest_tool(rest_api_method_info={"method_url": "/a", "method_type": "patch"}),
            [
                (
                    "rest_api_method_info.method_type",
                    'expected "get", "post", "put" or "delete", found the string "patch"',
                )
            ],
        ),
        (
            rest_tool(fallback_configuration={"strategies": [{"type": "ignore"}]}),
            [
                (
                    "fallback_configuration.strategies[0].type",
                    'expected "stop", "continue", "retry" or "hard_stop", '
                    'found the string "ignore"',
                )
            ],
        ),
        (
            rest_tool(
                fallback_configuration={
                    "strategies": [{"type": "continue", "trigger_on": {"type": "matches"}}]
                }
            ),
            [
                (
                    "fallback_configuration.strategies[0].trigger_on.type",
                    'expected "contains" or "equals", found the string "matches"',
                ),
                (
                    "fallback_configuration.strategies[0].trigger_on.value",
                    "is missing; write a string",
                ),
            ],
        ),
        (rest_tool(attachment=None), [("attachment", "expected an object, found null")]),
    ],
)
def test_what_is_no_tool_is_told_with_its_place(tool, found):
    place = "tool_sets[0].tools[0]"

    assert problems(rest_tools(tool)) == [(f"{place}.{path}", text) for path, text in found]


CREDENTIALS_IN = {"password", "token", "client_secret", "key"}
KEY = {"type": "api_key", "key": "s3", "name": "X-Key"}
CREDENTIALS = {
    "type": "client_id_secret",
    "client_id": "me",
    "client_secret": "s3",
    "token_url": "https://login.example.org/token",
}


@proves("m1.12")
@pytest.mark.parametrize(
    ("authorization", "of_rest", "of_mcp"),
    [
        ({"type": "basic", "username": "ann", "password": "s3"}, {}, {}),
        ({"type": "bearer", "token": "s3"}, {}, {}),
        (CREDENTIALS, {"scope": None, "aud": None}, {"scope": None, "aud": None}),
        ({**CREDENTIALS, "scope": "a b", "aud": "c"}, {}, {}),
        ({**KEY, "location": "query"}, {}, {}),
        ({"type": "forward_auth_token"}, {}, None),
        (KEY, None, {"location": "header"}),
        ({**KEY, "location": "body"}, {}, None),
    ],
)
def test_who_is_calling_is_told_in_ways_that_differ_by_the_kind(authorization, of_rest, of_mcp):
    """Each expectation is what is added on reading; None means a refusal."""
    rest_set = rest_tools(authorization=authorization)
    server = {**SERVER, "authorization": authorization}
    mcp_set = {"type": "mcp", "name": "x", "mcp_server_info": server}

    for document, added in ((rest_set, of_rest), (mcp_set, of_mcp)):
        if added is None:
            assert len(problems(document)) == 1
            continue
        found = toolset(**document)
        read_back = found.get("authorization") or found["mcp_server_info"]["authorization"]
        hidden = {k: {"$hidden": ""} for k in CREDENTIALS_IN & authorization.keys()}
        expected = {**authorization, **hidden, **added}
        assert read_back == {k: v for k, v in expected.items() if v is not ...}


@proves("m1.12")
def test_scope_and_audience_are_text():
    document = rest_tools(authorization={**CREDENTIALS, "scope": ["a"], "aud": 5})

    assert problems(document) == [
        ("tool_sets[0].authorization.scope", "expected a string, found a list of 1"),
        ("tool_sets[0].authorization.aud", "expected a string, found an integer"),
    ]


@proves("13.3")
@pytest.mark.parametrize(
    ("seconds", "message"),
    [
        (0.5, ""),
        (3600, ""),
        (None, ""),
        (3600.5, "expected 3600 or less, found the number 3600.5"),
        (-1, "expected more than 0, found the integer -1"),
        ("soon", 'expected a number, found the string "soon"'),
    ],
)
def test_tools_have_up_to_an_hour(seconds, message):
    document = manifest(tool_defaults={"timeout_seconds": seconds})

    found = [(p.path, p.message) for p in review(document, preview=True).errors]

    assert found == ([("tool_defaults.timeout_seconds", message)] if message else [])


@pytest.mark.parametrize("feature", ["approval", "questions"])
@each_row(
    ("seconds", "message"),
    [
        (2_592_000, ""),
        (None, ""),
        (2_592_001, "expected 2592000 or less, found the integer 2592001"),
        (0, "expected more than 0, found the integer 0"),
    ],
)
def test_people_have_up_to_thirty_days(feature, seconds, message):
    document = manifest(features={feature: {"seconds": seconds}})

    found = [(p.path, p.message) for p in review(document, preview=True).errors]

    assert found == ([(f"features.{feature}.seconds", message)] if message else [])


CASES: list[tuple[Any, Any, Any]] = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, None),
    ({"a": "foo"}, "bar", "bar"),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@proves("m4.4")
@each_row(("target", "patch", "expected"), CASES)
def test_the_cases_of_the_rfc(target, patch, expected):
    before = copy.deepcopy((target, patch))

    assert apply_patch(target, patch) == expected
    assert (target, patch) == before
