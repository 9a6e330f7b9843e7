"""The tool that a model means by a name with something around it."""

import re

from hypothesis import given
from hypothesis import strategies as st

from apps.agent.call_names import called_name
from tests.tables import each_row

TOOLS = ("srv_look", "srv_weather", "web-search", "a_b", "a-b", "клиент")


@each_row(
    ("written", "expected"),
    [
        ("srv_look", "srv_look"),
        ("клиент", "клиент"),  # a client's tool, whatever its service thinks of the name
        ("srv_look ", "srv_look"),
        ("\tsrv_look\n", "srv_look"),
        ("functions.srv_look", "srv_look"),
        ("functions:srv_look", "srv_look"),
        ("functions.srv_look:0", "srv_look"),
        ("functions.functions.srv_look", "srv_look"),
        ("functions/srv_look", "srv_look"),
        ("default_api.srv_look", "srv_look"),
        ("default_api_srv_look", "srv_look"),
        ("mcp__srv__look", "srv_look"),
        ("srv.look", "srv_look"),
        ("srv-look", "srv_look"),
        ("SRV_LOOK", "srv_look"),
        ('"srv_look"', "srv_look"),
        ("srv_look()", "srv_look"),
        ("srv_look<|channel|>commentary", "srv_look"),
        ("assistant<|channel|>analysis to=functions.srv_look", "srv_look"),
        # no tool, or not one alone
        ("look", "look"),
        ("srv_looks", "srv_looks"),
        ("functions.look", "functions_look"),
        ("a.b", "a_b_3"),
        ("", "unnamed_tool"),
        ("…", "unnamed_tool"),
        ("x" * 100, "x" * 64),
    ],
)
def test_a_name_is_read_as_the_tool_it_can_only_mean(written: str, expected: str):
    assert called_name(written, TOOLS) == expected


@each_row(
    ("written", "expected"),
    [
        ("functions.srv_Look", "srv_Look"),
        ("functions_srv_look", "srv_look"),
        ("tools:srv_Look:0", "srv_Look"),
        ("default_api_srv_look ", "srv_look"),
        ("functions<|channel|>srv_Look", "srv_Look"),
    ],
)
def test_an_exact_name_behind_a_prefix_is_that_tool(written: str, expected: str):
    assert called_name(written, ("srv_look", "srv_Look")) == expected


@given(st.text())
def test_any_name_becomes_one_that_services_accept(written: str):
    assert re.fullmatch("[a-zA-Z0-9_-]{1,64}", called_name(written, ("look", "a_b")))
