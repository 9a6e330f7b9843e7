from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.agent.tools import ToolSpec
from apps.errors import BadRequest
from apps.gateway import openai_dialect
from apps.gateway.openai_dialect import ignored_header
from tests.tables import each_row

HELLO = {"messages": [{"role": "user", "content": "Hi"}]}


def tool(**function):
    return {"type": "function", "function": {"name": "weather", **function}}


def read(**fields):
    body = json.dumps({**HELLO, **fields}).encode()
    return openai_dialect.parse(body)


def wishes(fixed=(), permitted=(), **fields):
    found = openai_dialect.sort_parameters(
        read(**fields)[0], "app", fixed=fixed, permitted=permitted
    )
    return found.forwarded, sorted(found.ignored)


def test_parameters_that_nobody_knows_are_named():
    request, unknown = read(temperature=0.5, top_k=4, safety_identifier=None)

    assert (request.temperature, unknown) == (0.5, {"top_k", "safety_identifier"})
    assert read(temperature=0.5)[1] == frozenset()


@each_row(
    ("fields", "place"),
    [
        ({"logprobs": "yes"}, "path logprobs"),
        ({"top_logprobs": 21}, "path top_logprobs"),
        ({"metadata": {"a": 1}}, "path metadata.*"),
        ({"user": 1, "unknown": 1}, "path user"),
        ({"tools": [tool(), tool()]}, "path tools.1.function.name"),
        ({"functions": []}, "path functions. "),
        ({"function_call": "none"}, "path function_call. "),
        ({"store": True}, "path store. "),
        ({"modalities": ["audio"]}, "path modalities. "),
        ({"audio": {}}, "path audio. "),
        ({"web_search_options": {}}, "path web_search_options. "),
        ({"stream_options": {}}, "path stream_options. "),
        ({"max_tokens": 1, "max_completion_tokens": 1}, "path max_tokens. "),
        ({"prediction": json.loads('{"a":' * 64 + "1" + "}" * 64)}, "deeper than 64 levels"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(fields, place):
    with pytest.raises(BadRequest) as refused:
        read(**fields)

    assert place.removesuffix(".*") in str(refused.value)


def test_what_changes_nothing_is_no_wish():
    request, _ = read(n=1, store=False, modalities=["text"], user=None, stream_options=None)

    found = openai_dialect.sort_parameters(request, "app", fixed=(), permitted=())

    assert (dict(found.forwarded), found.ignored) == ({}, frozenset())


def test_the_manifest_decides_what_is_the_clients_to_set():
    sent = {"temperature": 0.5, "seed": 1, "user": "u", "metadata": {}, "logit_bias": {"5": -100}}

    assert wishes(("temperature",), ("user",), **sent) == (
        {"seed": 1, "user": "u", "logit_bias": {"5": -100}},
        ["metadata", "temperature"],
    )
    encoded = msgspec.json.encode(wishes(**sent)[0]["logit_bias"])
    assert encoded == b'{"5":-100}'  # some services read nothing but whole numbers


@pytest.mark.parametrize("fixed", ["max_tokens", "max_completion_tokens"])
def test_a_limit_is_one_by_whichever_name(fixed):
    assert wishes((fixed,), max_tokens=5) == ({}, ["max_tokens"])


def test_whether_tools_are_called_together_matters_where_there_are_tools():
    assert wishes(parallel_tool_calls=False) == ({}, ["parallel_tool_calls"])
    assert wishes(parallel_tool_calls=False, tools=[tool()]) == ({"parallel_tool_calls": False}, [])


def test_what_else_has_no_effect_is_named():
    static = {"type": "static_function", "static_function": {"name": "x"}}
    options = {"include_usage": True, "include_obfuscation": True, "later": None}

    found = wishes(model="gpt-x", tools=[static], stream=True, stream_options=options)

    assert found == ({}, ["model", "stream_options.include_obfuscation", "tools.static_function"])
    assert wishes(model="app") == ({}, [])


def test_the_strictness_of_tools_is_passed_on():
    schema = {"type": "object"}
    request, _ = read(tools=[tool(strict=True, parameters=schema)])

    assert openai_dialect.to_specs(request) == {"weather": ToolSpec("weather", "", schema, True)}
    assert ToolSpec("weather", "", schema, True).written == msgspec.Raw(
        b'{"type":"function","function":{"name":"weather","description":"",'
        b'"parameters":{"type":"object"},"strict":true}}'
    )
    with pytest.raises(BadRequest, match=r"tools\.0\.function\.strict"):
        openai_dialect.to_specs(read(tools=[tool(strict="yes")])[0])


@pytest.mark.parametrize(
    ("choice", "requires_client_tool"),
    [
        (None, False),
        ("auto", False),
        ("none", False),
        ("required", True),
        ({"type": "function", "function": {"name": "weather"}}, True),
        ({"type": "function", "function": {"name": "another"}}, False),
    ],
)
def test_a_client_may_insist_on_its_own_tools_alone(choice, requires_client_tool):
    request, _ = read(tools=[tool()], tool_choice=choice)

    assert openai_dialect.requires_client_tool(request, {"weather"}) is requires_client_tool
    assert not openai_dialect.requires_client_tool(request, ())


# --- The header --------------------------------------------------------------------------------


def value_of(*names: str) -> str:
    ((name, value),) = ignored_header(names)
    assert name == b"x-ignored-parameters"
    return value.decode("ascii")


def test_ignored_parameters_are_sorted_and_safe_for_a_header():
    assert value_of("user", "metadata") == "metadata, user"
    assert value_of("a\r\nSet-Cookie: b", "é,", "", "stream_options.x") == (
        "_, __, a__Set-Cookie__b, stream_options.x"
    )
    assert ignored_header(()) == ()


def test_of_very_many_only_the_first_are_told():
    names = [f"{number:06}{'x' * 500}" for number in range(100_000)]

    found = value_of(*names).split(", ")

    assert found == [name[:64] for name in names[: len(found) - 1]] + ["..."]
    assert 900 < len(", ".join(found)) < 1100


@given(st.lists(st.text(max_size=100), min_size=1, max_size=50))
def test_no_name_breaks_the_header(names):
    found = value_of(*names)

    assert found.isascii()
    assert found.isprintable()
    assert 0 < len(found) < 1100
