"""The arguments from the model are validated before a tool gets them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.wrappers.arguments import Arguments, read_arguments, with_arguments
from apps.errors import InvalidParameter
from apps.json_schemas.checks import SchemaCheck
from apps.manifest.toolsets.parameters import FunctionParameters
from tests.capabilities.wrappers.calls import answering, use
from tests.contract import proves


def arguments_of(required: tuple[str, ...] = (), **properties: Any):
    written = {"type": "object", "properties": properties, "required": required}
    return read_arguments(FunctionParameters.model_validate(written))


ADDRESS = {
    "type": "object",
    "description": "d",
    "properties": {"zip": {"type": "string"}, "street": {"type": "string"}},
    "required": ["zip", "street"],
}


@proves("6.2")
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
        "Parameter unit is invalid: expected one of m, ft; found string mile."
    )


@proves("6.2")
def test_a_required_parameter_that_is_null_is_told_so():
    with pytest.raises(InvalidParameter) as error:
        arguments_of(("n",), n={"type": "number"}).check({"n": None})

    assert str(error.value) == ("Parameter n is invalid: expected number; found null.")


@proves("6.2")
def test_what_was_found_is_repeated_in_short():
    arguments = arguments_of(("n",), n={"type": "number"})

    with pytest.raises(InvalidParameter) as error:
        arguments.check({"n": "x" * 100_000})

    assert len(str(error.value)) < 200


@proves("6.2")
def test_a_flood_of_violations_is_cut():
    items = {"type": "array", "items": {"type": "string"}, "description": "d"}

    with pytest.raises(InvalidParameter) as error:
        arguments_of(tags=items).check({"tags": list(range(10_000))})

    assert len(str(error.value)) < 2_200


@proves("6.3", "m1.9")
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


@proves("6.2", "m1.9")
def test_null_for_what_may_be_left_out_means_left_out_and_a_default_takes_its_place():
    arguments = arguments_of(a={"type": "string"}, b={"type": "string", "default": "x"})

    assert arguments.check({"a": None, "b": None, "c": 1}) == {"b": "x", "c": 1}


@proves("6.2")
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


@proves("6.2")
def test_a_whole_number_is_an_integer_however_it_was_written():
    lines = {"type": "array", "description": "d", "items": {"type": "integer"}}
    inner = {"type": "object", "description": "d", "properties": {"lines": lines}}
    arguments = arguments_of(n={"type": "integer"}, x={"type": "number"}, inner=inner)

    checked = arguments.check({"n": 5.0, "x": 5.0, "inner": {"lines": [1.0, 2], "other": 1.0}})

    assert repr(checked) == repr({"n": 5, "x": 5.0, "inner": {"lines": [1, 2], "other": 1.0}})
    with pytest.raises(InvalidParameter, match=r"^Parameter n is invalid: expected integer; found"):
        arguments.check({"n": 5.5})


KINDS = st.sampled_from(["string", "number", "integer", "boolean"])
SIMPLE = st.builds(lambda kind: {"type": kind}, KINDS)
CONSTANT = st.builds(lambda value: {"type": None, "const": value}, st.integers() | st.text())
SCHEMAS = st.recursive(
    SIMPLE | CONSTANT,
    lambda inner: (
        st.builds(lambda items: {"type": "array", "description": "d", "items": items}, inner)
        | st.builds(
            lambda properties, required: {
                "type": "object",
                "description": "d",
                "properties": properties,
                "required": required,
            },
            st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            st.lists(st.sampled_from("abcd"), max_size=2, unique=True),
        )
    ),
    max_leaves=3,
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3)
    ),
    max_leaves=4,
)


def checked_or_refused(arguments: Any, values: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the tool's arguments, and the path of the parameter that prevents the call."""
    try:
        return arguments.check(values), ""
    except InvalidParameter as error:
        return {}, error.parameter


@proves("6.2")
@given(
    properties=st.dictionaries(st.sampled_from("abc"), SCHEMAS, max_size=3),
    given_values=st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4),
)
@settings(max_examples=60)
def test_whatever_is_given_is_refused_with_a_path_or_fits_with_every_constant(
    properties, given_values
):
    arguments = arguments_of(tuple(properties), **properties)

    checked, refused = checked_or_refused(arguments, given_values)

    if refused:
        assert refused.split(".")[0].split("[")[0] in properties
    else:
        assert arguments.schema_check.accepts(checked)
        constants = {n: v["const"] for n, v in properties.items() if v["type"] is None}
        assert {name: checked[name] for name in constants} == constants


@proves("6.2")
def test_a_name_with_dots_and_brackets_is_told_as_it_is():
    with pytest.raises(InvalidParameter) as error:
        arguments_of(("a.b",), **{"a.b": {"type": "string"}}).check({})

    assert str(error.value) == ("Parameter a.b is invalid: it is required but missing.")


def test_an_unknown_parameter_is_named_with_those_that_the_tool_takes():
    inner = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
    schema = {
        "type": "object",
        "properties": {"x": {"type": "string"}, "y": inner},
        "required": [],
        "additionalProperties": False,
    }
    arguments = Arguments(schema, SchemaCheck.of(schema), {}, dict)

    with pytest.raises(InvalidParameter) as refused:
        arguments.check({"z": 1, "y": {"b": 2}})

    assert str(refused.value) == (
        "Parameter z is invalid: `z` is not a parameter of this tool; the valid names are `x`, `y`.\n"
        "Parameter y.b is invalid: `b` is not a property of `y`; the valid names are `a`."
    )


def test_a_tool_without_parameters_says_so():
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}

    with pytest.raises(
        InvalidParameter, match=r"`z` is not a parameter of this tool; no names are valid"
    ):
        Arguments(schema, SchemaCheck.of(schema), {}, dict).check({"z": 1})
