"""Tools of a request and the choice among them."""

from __future__ import annotations

from typing import Any

import pytest

from apps.agent.tools import ToolSpec
from apps.doors.client_parameters import TEXT_PARAMETERS, ClientTools
from apps.errors import BadRequest
from apps.responses.tools import ResponseToolChoice, read_choice, read_tools
from tests.tables import each_row

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
LOOK = {
    "type": "function",
    "name": "look",
    "description": "Looks.",
    "parameters": SCHEMA,
    "strict": True,
}
GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: A"}
PATCH = {"type": "custom", "name": "patch", "description": "Patches.", "format": GRAMMAR}
CRM = {"type": "namespace", "name": "crm", "description": "Customers.", "tools": [LOOK, PATCH]}


def named(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "function", "name": name, **fields}


def test_functions_custom_tools_and_those_of_namespaces_are_offered():
    described = "Patches.\n\nThe input follows this lark grammar:\nstart: A"

    assert read_tools([LOOK, PATCH, CRM, {"type": "web_search"}]) == ClientTools(
        {
            "look": ToolSpec("look", "Looks.", SCHEMA, True),
            "patch": ToolSpec("patch", described, TEXT_PARAMETERS, takes_text=True),
            "crm__look": ToolSpec("crm__look", "Looks.", SCHEMA, True),
            "crm__patch": ToolSpec("crm__patch", described, TEXT_PARAMETERS, takes_text=True),
        },
        {"crm__look": ("crm", "look"), "crm__patch": ("crm", "patch")},
        frozenset({"web_search"}),
    )


@each_row(
    ("written", "choice"),
    [
        (None, ResponseToolChoice()),
        ("required", ResponseToolChoice("required")),
        (named("look"), ResponseToolChoice({"type": "function", "function": {"name": "look"}})),
        (
            {"type": "custom", "name": "patch", "namespace": "crm"},
            ResponseToolChoice({"type": "function", "function": {"name": "crm__patch"}}),
        ),
        (
            {
                "type": "allowed_tools",
                "mode": "auto",
                "tools": [named("look"), {"type": "web_search"}],
            },
            ResponseToolChoice("auto", frozenset({"look"})),
        ),
        ({"type": "web_search"}, ResponseToolChoice(is_ignored=True)),
    ],
)
def test_a_choice_is_written_as_in_a_request_to_a_model(written, choice):
    assert read_choice(written, read_tools([LOOK, PATCH, CRM]).specs) == choice


@each_row(
    ("tools", "problem"),
    [
        ([{"type": "function"}], "path tools.0. Object missing required field `name`."),
        ([LOOK, LOOK], "path tools.1.name. Two tools are named 'look'."),
        ([CRM, CRM], "path tools.1.tools.0.name. Two tools are named 'crm__look'."),
        (
            [{"type": "namespace", "name": "x"}],
            "path tools.0. Object missing required field `tools`.",
        ),
        ([{**CRM, "tools": [{"type": "function"}]}], "path tools.0.tools.0. Object missing"),
    ],
)
def test_an_unreadable_tool_is_refused_by_its_place(tools, problem):
    with pytest.raises(BadRequest) as refused:
        read_tools(tools)

    assert problem in str(refused.value)


@each_row(
    ("written", "problem"),
    [
        ("always", "path tool_choice. Use"),
        (named("other"), "path tool_choice. 'tools' has no tool named 'other'."),
        ({"type": "allowed_tools", "mode": "none", "tools": []}, "path tool_choice.mode. "),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [named("x")]},
            "path tool_choice.tools.0. 'tools' has no tool named 'x'.",
        ),
    ],
)
def test_a_choice_of_a_tool_that_there_is_not_is_refused(written, problem):
    with pytest.raises(BadRequest) as refused:
        read_choice(written, ("look",))

    assert problem in str(refused.value)
