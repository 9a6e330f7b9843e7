"""What the model wrote is checked before a tool sees it."""

from __future__ import annotations

from typing import Any

import pytest

from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.wrappers.arguments import read_arguments, with_arguments
from apps.errors import InvalidParameter
from apps.manifest.parameters import FunctionParameters
from tests.capabilities.wrappers.calls import answering, use


def arguments_of(required: tuple[str, ...] = (), **properties: Any):
    written = {"type": "object", "properties": properties, "required": required}
    return read_arguments(FunctionParameters.model_validate(written))


ADDRESS = {
    "type": "object",
    "description": "d",
    "properties": {"zip": {"type": "string"}, "street": {"type": "string"}},
    "required": ["zip", "street"],
}


def test_every_violation_is_told_with_path_what_was_found_and_what_is_expected():
    arguments = arguments_of(
        ("to", "n", "unit"),
        to=ADDRESS,
        n={"type": "integer"},
        unit={"type": "string", "enum": ["m", "ft"]},
        tags={"type": "array", "items": {"type": "string"}, "description": "d"},
        flag={"type": "boolean"},
    )

    with pytest.raises(InvalidParameter) as error:
        arguments.check({"to": {}, "n": "seven", "unit": "mile", "tags": ["a", 2], "flag": None})

    assert str(error.value) == (
        "Parameter n is invalid: expected integer; found string seven.\n"
        "Parameter tags[1] is invalid: expected string; found integer 2.\n"
        "Parameter to.zip is invalid: it is required but missing.\n"
        "Parameter to.street is invalid: it is required but missing.\n"
        "Parameter unit is invalid: expected one of m, ft; found string mile.\n"
        "Call the tool again with valid parameters."
    )


def test_a_required_parameter_that_is_null_is_told_so():
    with pytest.raises(InvalidParameter) as error:
        arguments_of(("n",), n={"type": "number"}).check({"n": None})

    assert str(error.value) == (
        "Parameter n is invalid: expected number; found null.\n"
        "Call the tool again with valid parameters."
    )


def test_what_was_found_is_repeated_in_short():
    arguments = arguments_of(("n",), n={"type": "number"})

    with pytest.raises(InvalidParameter) as error:
        arguments.check({"n": "x" * 100_000})

    assert len(str(error.value)) < 200


def test_a_flood_of_violations_is_cut():
    items = {"type": "array", "items": {"type": "string"}, "description": "d"}

    with pytest.raises(InvalidParameter) as error:
        arguments_of(tags=items).check({"tags": list(range(10_000))})

    assert len(str(error.value)) < 2_200


def test_a_constant_never_appears_in_schema_or_error():
    arguments = arguments_of(
        ("key", "n"), key={"type": None, "const": "s3cret"}, n={"type": "number"}
    )

    with pytest.raises(InvalidParameter) as error:
        arguments.check({"key": "mine"})

    assert arguments.schema == {
        "type": "object",
        "properties": {"n": {"type": "number"}},
        "required": ["n"],
    }
    assert "s3cret" not in str(error.value)
    assert arguments.check({"key": "mine", "n": 1}) == {"key": "s3cret", "n": 1}


def test_null_for_what_may_be_left_out_means_left_out_and_a_default_takes_its_place():
    arguments = arguments_of(a={"type": "string"}, b={"type": "string", "default": "x"})

    assert arguments.check({"a": None, "b": None, "c": 1}) == {"b": "x", "c": 1}


async def test_the_tool_sees_checked_arguments_only():
    seen: list[Invocation] = []

    def work(invocation: Invocation) -> ToolResult:
        seen.append(invocation)
        return ToolResult("ok")

    tool = with_arguments(answering(work), arguments_of(("n",), n={"type": "integer"}))

    with pytest.raises(InvalidParameter):
        await use(tool, n="1")
    await use(tool, n=1)

    assert [invocation.arguments for invocation in seen] == [{"n": 1}]
