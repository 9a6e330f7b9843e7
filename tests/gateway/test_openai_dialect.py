from __future__ import annotations

import json

import msgspec
import pytest

from apps.errors import BadRequest
from apps.gateway import openai_dialect
from apps.manifest.validation import validation
from tests.catalog.rows import manifest_with
from tests.runs.prompts import context_of
from tests.tables import each_row

HELLO = {"messages": [{"role": "user", "content": "Hi"}]}


def tool(**function):
    return {"type": "function", "function": {"name": "weather", **function}}


def read(**fields):
    body = json.dumps({**HELLO, **fields}).encode()
    return openai_dialect.parse(body)


def wishes(fixed=(), permitted=(), **fields):
    """Return the parameters that reach the model, and the names of those without effect."""
    deployment = {"deployment_id": "gpt", "parameters": dict.fromkeys(fixed, 7)}
    client = dict.fromkeys(permitted, True)
    manifest = manifest_with(orchestrator={"deployment": deployment, "client": client})
    application = context_of(validation.read_manifest(manifest)).application
    body = json.dumps({**HELLO, **fields}).encode()
    found = openai_dialect.OpenAIDialect().read(body).prepare(application)
    return found.request.parameters, sorted(found.ignored)


def test_parameters_that_nobody_knows_are_named():
    found = read(temperature=0.5, top_k=4, safety_identifier=None)

    assert (found.request.temperature, found.unknown) == (0.5, {"top_k", "safety_identifier"})
    assert read(temperature=0.5).unknown == frozenset()


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
    nothing = {"n": 1, "store": False, "modalities": ["text"], "user": None, "stream_options": None}

    assert wishes(**nothing) == ({}, [])


def test_the_manifest_decides_what_is_the_clients_to_set():
    sent = {"temperature": 0.5, "seed": 1, "user": "u", "metadata": {}, "logit_bias": {"5": -100}}

    assert wishes(("temperature",), ("user",), **sent) == (
        {"seed": 1, "user": "u", "logit_bias": {"5": -100}},
        ["metadata", "temperature"],
    )
    encoded = msgspec.json.encode(wishes(**sent)[0]["logit_bias"])
    assert encoded == b'{"5":-100}'  # some services accept only integers


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_a_limit_is_one_by_whichever_name(name):
    assert wishes(("max_tokens",), **{name: 5}) == ({}, [name])


def test_whether_tools_are_called_together_matters_where_there_are_tools():
    assert wishes(parallel_tool_calls=False) == ({}, ["parallel_tool_calls"])
    assert wishes(parallel_tool_calls=False, tools=[tool()]) == ({"parallel_tool_calls": False}, [])


def test_what_else_has_no_effect_is_named():
    static = {"type": "static_function", "static_function": {"name": "x"}}
    options = {"include_usage": True, "include_obfuscation": True, "later": None}

    found = wishes(model="gpt-x", tools=[static], stream=True, stream_options=options)

    assert found == ({}, ["model", "stream_options.include_obfuscation", "tools.static_function"])
    assert wishes(model="travel") == ({}, [])
