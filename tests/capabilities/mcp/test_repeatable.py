import mcp_types as types
import pytest

from apps.capabilities.mcp.tools import is_declared_repeatable


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (None, False),
        (types.ToolAnnotations(), False),
        (types.ToolAnnotations(read_only_hint=True), True),
        (types.ToolAnnotations(idempotent_hint=True), True),
        (types.ToolAnnotations(read_only_hint=False, idempotent_hint=False), False),
    ],
)
def test_a_tool_may_be_repeated_that_its_server_calls_read_only_or_idempotent(told, expected):
    assert is_declared_repeatable(told) == expected
