from __future__ import annotations

import json

import msgspec
import pytest

from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.tools import ToolSpec
from apps.doors.client_conversation import read_conversation
from apps.doors.client_parameters import TEXT_PARAMETERS, offered, requires_client_tool
from apps.errors import BadRequest
from apps.gateway import openai_dialect
from apps.gateway.openai_tools import to_specs
from tests.tables import each_row

HELLO = {"role": "user", "content": "Hi"}
GRAMMAR = {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: A"}}


def tool(name="weather", **function):
    return {"type": "function", "function": {"name": name, **function}}


def custom(name="patch", **fields):
    return {"type": "custom", "custom": {"name": name, **fields}}


def allowed(*tools, mode="auto"):
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": list(tools)}}


def read(*messages, **fields):
    body = json.dumps({"messages": [*messages, HELLO], **fields}).encode()
    return openai_dialect.parse(body)


def test_the_strictness_of_tools_is_passed_on():
    schema = {"type": "object"}
    request = read(tools=[tool(strict=True, parameters=schema)]).request

    assert to_specs(request.tools) == {"weather": ToolSpec("weather", "", schema, True)}
    assert ToolSpec("weather", "", schema, True).written == msgspec.Raw(
        b'{"type":"function","function":{"name":"weather","description":"",'
        b'"parameters":{"type":"object"},"strict":true}}'
    )
    with pytest.raises(BadRequest, match=r"tools\.0\.function\.strict"):
        to_specs(read(tools=[tool(strict="yes")]).request.tools)


@pytest.mark.parametrize(
    ("choice", "is_required"),
    [
        (None, False),
        ("auto", False),
        ("none", False),
        ("required", True),
        ({"type": "function", "function": {"name": "weather"}}, True),
        ({"type": "function", "function": {"name": "another"}}, False),
    ],
)
def test_a_client_may_insist_on_its_own_tools_alone(choice, is_required):
    request = read(tools=[tool()], tool_choice=choice).request

    assert requires_client_tool(request.tool_choice, {"weather"}) is is_required
    assert not requires_client_tool(request.tool_choice, ())


def test_a_custom_tool_is_a_function_with_a_text_for_the_model():
    request = read(tools=[custom(description="Applies a patch.", format=GRAMMAR), tool()]).request

    specs = to_specs(request.tools)

    described = "Applies a patch.\n\nThe input follows this lark grammar:\nstart: A"
    assert specs == {
        "patch": ToolSpec("patch", described, TEXT_PARAMETERS, takes_text=True),
        "weather": ToolSpec("weather", "", {"type": "object", "properties": {}}),
    }


def test_custom_calls_come_back_as_calls_of_that_function():
    called = {"id": "1", "type": "custom", "custom": {"name": "patch", "input": 'say "x"'}}
    answer = {"role": "assistant", "content": None, "tool_calls": [called]}
    result = {"role": "tool", "tool_call_id": "1", "content": "done"}
    request = read(answer, result, tools=[custom()]).request

    found = read_conversation(request.messages, to_specs(request.tools))

    call = ToolCall("1", "patch", '{"input":"say \\"x\\""}')
    assert found.messages[1:3] == (
        ModelMessage("assistant", tool_calls=(call,)),
        ModelMessage("tool", "done", tool_call_id="1"),
    )


@pytest.mark.parametrize("mode", ["auto", "required"])
def test_only_allowed_tools_are_offered_in_this_answer(mode):
    one, two, three = tool("one"), custom("two"), tool("three")
    found = read(
        tools=[one, two, three], tool_choice=allowed(tool("one"), custom("two"), mode=mode)
    )

    specs = to_specs(found.request.tools)

    assert found.request.tool_choice == mode
    assert [*specs] == ["one", "two", "three"]
    assert [*offered(specs, found.allowed)] == ["one", "two"]


def test_a_choice_of_a_custom_tool_names_its_function():
    choice = read(tools=[custom()], tool_choice=custom()).request.tool_choice

    assert choice == {"type": "function", "function": {"name": "patch"}}


@each_row(
    ("fields", "problem"),
    [
        ({"tools": [{"type": "custom"}]}, "path tools.0. Object missing required field `custom`."),
        ({"tools": [custom(name="")]}, "path tools.0.custom.name."),
        ({"tools": [custom(), tool("patch")]}, "path tools.1.function.name."),
        (
            {"tools": [tool()], "tool_choice": {"type": "allowed_tools"}},
            "path tool_choice.allowed_tools.",
        ),
        (
            {"tools": [tool()], "tool_choice": allowed(mode="none")},
            "path tool_choice.allowed_tools.mode.",
        ),
        (
            {"tools": [tool()], "tool_choice": allowed(tool("x"))},
            "path tool_choice.allowed_tools.tools.0. 'tools' has no tool named 'x'.",
        ),
        (
            {"tools": [tool()], "tool_choice": allowed({"type": "mcp"})},
            "path tool_choice.allowed_tools.tools.0. Use",
        ),
        ({"tools": [tool()], "tool_choice": {"type": "custom"}}, "path tool_choice. Use"),
    ],
)
def test_an_unreadable_tool_or_choice_is_refused_by_name(fields, problem):
    with pytest.raises(BadRequest) as refused:
        read(**fields)

    assert problem in str(refused.value)


def test_a_call_without_its_function_is_refused_by_its_place():
    answer = {"role": "assistant", "tool_calls": [{"id": "1"}]}

    with pytest.raises(BadRequest, match=r"messages\.0\.tool_calls\.0\. Object missing"):
        read(answer)
