"""Messages with values that the SDK's parser does not take."""

import json
from typing import Any

import pytest
from pydantic_core import from_json

from apps.capabilities.mcp import deep_messages
from apps.capabilities.mcp.deep_messages import MOST_DEPTH, readable
from tests.capabilities.manifests import use
from tests.capabilities.mcp.desk import answering, desk_before, messages, named
from tests.capabilities.service import Answer, Reply, Seen, json_reply
from tests.tables import each_row

DEEP = "(left out: it is nested too deeply)"
ECHO = '{"name":"echo","inputSchema":{"type":"object"}}'


def nested(levels: int, opening: str = "[", closing: str = "]") -> str:
    return opening * levels + "0" + closing * levels


def depth_of(value: Any) -> int:
    depth = 0
    while isinstance(value, list) and value:
        value, depth = value[0], depth + 1
    return depth


@each_row(
    ("written",),
    [
        ("",),
        ("{",),
        ('{"a":1}',),
        (nested(MOST_DEPTH),),
        (nested(190),),
        ('{"a":"' + "[" * 1_000 + '"}',),
        ("[" * 100_000,),
        ('"' + '\\"' * 100_000,),
        ('{"a":' + "9" * 4_000 + "}",),
    ],
)
def test_a_message_that_can_be_read_or_is_no_json_stays_as_it_is(written: str):
    message = written.encode()

    assert readable(message) is message


def test_values_that_are_nested_too_deeply_are_replaced():
    written = f'{{"a":{nested(1_000)},"b":["]\\"",{nested(500)},2],"c":{nested(3)}}}'

    found = from_json(readable(written.encode()))

    assert (depth_of(found["a"]), found["b"][0], found["b"][2]) == (MOST_DEPTH - 1, ']"', 2)
    assert DEEP in json.dumps(found["a"])
    assert found["c"] == [[[0]]]


@each_row(
    ("number", "characters"),
    [("9" * 6_000, 6_000), ("-" + "9" * 6_000, 6_001), ("9" * 5_000 + "e5", 5_002)],
)
def test_numbers_that_are_too_long_are_replaced(number: str, characters: int):
    message = f'{{"a":{"9" * 5_000},"b":{number},"c":"{number}"}}'.encode()

    assert from_json(readable(message)) == {
        "a": "(left out: a number of 5000 characters)",
        "b": f"(left out: a number of {characters} characters)",
        "c": number,
    }


def test_reading_stops_at_the_bound(monkeypatch):
    message = nested(1_000).encode()
    monkeypatch.setattr(deep_messages, "MOST_TOKENS", 1_000)

    assert readable(message) is message


def serving_bodies(listed: str, result: str) -> Answer:
    """A server by hand with that list of tools and that result of every call, as text."""
    inner = answering(Reply(200))

    async def answer(seen: Seen) -> Reply:
        if seen.method != "POST" or b'"tools/' not in seen.body:
            return await inner(seen)
        asked = json.loads(seen.body)
        found = f'{{"tools":[{listed}]}}' if asked["method"] == "tools/list" else result
        return json_reply(f'{{"jsonrpc":"2.0","id":{json.dumps(asked["id"])},"result":{found}}}')

    return answer


@pytest.mark.parametrize(
    "schema",
    [
        nested(1_000, '{"type":"object","properties":{"a":', "}}"),
        '{"type":"object","x":' + nested(2_000) + "}",
        '{"type":"object","x":' + nested(60) + "}",
    ],
)
async def test_a_deep_schema_takes_no_other_tool_away(schema: str):
    listed = f'{ECHO},{{"name":"deep","inputSchema":{schema}}}'

    async with desk_before(answer=serving_bodies(listed, "{}")) as contribution:
        assert [tool.spec.name for tool in contribution.tools] == ["desk_echo"]
        assert messages(contribution) == [
            "Toolset desk: the tool 'deep' is left out, because of its input schema: it is too "
            "large or too deeply nested."
        ]


@each_row(
    ("structured", "shown"),
    [
        (nested(5_000), DEEP),
        ("9" * 6_000, "(left out: a number of 6000 characters)"),
        ("9" * 300, "9" * 300),
        ("1e999", "null"),
    ],
)
async def test_the_model_reads_the_rest_of_a_result(structured: str, shown: str):
    result = f'{{"content":[],"structuredContent":{{"a":{structured},"b":"fine"}}}}'

    async with desk_before(answer=serving_bodies(ECHO, result)) as contribution:
        told = (await use(named(contribution, "desk_echo"))).content

    assert shown in told
    assert '"b":"fine"' in told


async def test_what_nobody_can_read_is_told_in_our_words():
    reply = json_reply('{"jsonrpc":"2.0","id":1,"result":{nonsense')

    async with desk_before(answer=answering(reply)) as contribution:
        told = (await use(contribution.tools[0])).content

    assert told.startswith("desk_act: the server's answer does not follow the protocol.")
    assert "input" not in told.split("\n")[0]
