"""Messages whose result or error is not an object, in any kind of body."""

import json
from typing import Any

import pytest
from pydantic_core import from_json

from apps.capabilities.mcp.messages import bare
from apps.capabilities.mcp.messages.bare import MOST_DEPTH, messages_in, readable, with_objects
from apps.capabilities.mcp.sessions.streams import MessageSelection
from apps.workspace.egress.request_context import RewrittenMessages
from tests.capabilities.manifests import OTHERWISE, use
from tests.capabilities.mcp.desk import answering, desk_before, messages, named, opened_desk
from tests.capabilities.mcp.servers import (
    MISBEHAVING,
    nothing_left_over,
    over_stdio,
    register,
)
from tests.capabilities.service import Answer, Reply, Seen, json_reply
from tests.tables import each_row

MOST = 1_000
DEEP = "(left out: it is nested too deeply)"
ECHO = '{"name":"echo","inputSchema":{"type":"object"}}'
WHOLE = b'data: {"jsonrpc":"2.0","result":{}}\n\n'


def rewritten(**fields: Any) -> dict[str, Any]:
    written = json.dumps({"jsonrpc": "2.0", "id": 3, **fields}, ensure_ascii=False).encode()
    found: dict[str, Any] = json.loads(with_objects(written))
    assert (found.pop("jsonrpc"), found.pop("id")) == ("2.0", 3)
    return found


@each_row(
    ("fields", "expected"),
    [
        ({"result": {"a": 1}}, {"result": {"a": 1}}),
        ({"result": {"a": 1}, "error": None}, {"result": {"a": 1}}),
        ({"result": "It rains."}, {"result": {"content": ["It rains."]}}),
        ({"result": None}, {"result": {"content": []}}),
        ({"result": 4.5}, {"result": {"content": [], "structuredContent": 4.5}}),
        ({"result": []}, {"result": {"content": [], "structuredContent": []}}),
        ({"result": [1, {}]}, {"result": {"content": [], "structuredContent": [1, {}]}}),
        (
            {"result": [{"type": "text", "text": "Hi"}]},
            {"result": {"content": [{"type": "text", "text": "Hi"}]}},
        ),
        (
            {"result": [{"type": "cat", "age": 3}]},
            {"result": {"content": [], "structuredContent": [{"type": "cat", "age": 3}]}},
        ),
        ({"error": "No."}, {"error": {"code": -32603, "message": "No."}}),
        ({"error": ["No."], "result": 1}, {"error": {"code": -32603, "message": '["No."]'}}),
        ({"error": {"code": 1}, "result": None}, {"error": {"code": 1, "message": '{"code":1}'}}),
        (
            {"error": {"code": "E1", "message": "No.", "data": 5}},
            {"error": {"code": -32603, "message": "No.", "data": 5}},
        ),
        (
            {"error": {"code": 7, "message": None}},
            {"error": {"code": 7, "message": '{"code":7,"message":null}'}},
        ),
        ({"result": {"a": 1}, "jsonrpc": 2.0}, {"result": {"a": 1}}),
        ({"method": "ping"}, {"method": "ping"}),
    ],
)
def test_a_result_that_is_no_object_becomes_one(fields, expected):
    assert rewritten(**fields) == expected


@pytest.mark.parametrize(
    "message", [b'{"id": 3, "result": {}}', b'\xef\xbb\xbf{"id": 3, "result": {}}']
)
def test_an_answer_without_the_version_of_json_rpc_has_it(message: bytes):
    assert json.loads(with_objects(message)) == {"jsonrpc": "2.0", "id": 3, "result": {}}


@each_row(("message",), [(b"",), (b"{",), (b"[]",), (b"null",), (b"\xff",), (b"[" * 100_000,)])
def test_what_is_no_message_stays_as_it_is(message):
    assert with_objects(message) == message


@pytest.mark.parametrize("size", [1, 7, 1_000])
@each_row(
    ("is_stream", "body", "expected"),
    [
        (
            False,
            b'{"jsonrpc":"2.0","result":\n"x"}',
            b'{"jsonrpc":"2.0","result":{"content":["x"]}}',
        ),
        (
            True,
            b': hi\r\nid: 1\r\ndata:{"jsonrpc":"2.0","result":"x"}\r\n\r\n',
            b': hi\r\nid: 1\r\ndata: {"jsonrpc":"2.0","result":{"content":["x"]}}\r\n\r\n',
        ),
        (True, WHOLE + b'data: {"resu', WHOLE + b'data: {"resu'),
        (
            True,
            b'data: {"jsonrpc":"2.0","result":1}',
            b'data: {"jsonrpc":"2.0","result":{"content":[],"structuredContent":1}}\n\n',
        ),
        (True, b'data: {\rdata: "a":1}\r\r', b'data: {\rdata: "a":1}\r\r'),
        (True, b"data:" + b"x" * 2_000 + b"\n", b"data:" + b"x" * 2_000 + b"\n"),
        (False, b"x" * 2_000, b"x" * 2_000),
    ],
)
def test_messages_are_found_in_a_body_that_comes_in_pieces(is_stream, body, expected, size):
    found = RewrittenMessages(messages_in, MOST, is_stream=is_stream)

    pieces = [found.feed(body[at : at + size]) for at in range(0, len(body), size)]

    assert b"".join([*pieces, found.end()]) == expected
    assert len(found.buffer) <= MOST


def test_a_message_for_another_request_is_dropped_from_a_batch():
    takes = MessageSelection("desk").of(b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}')
    found = RewrittenMessages(messages_in, MOST, is_stream=False, takes=takes)
    found.as_events = True

    found.feed(b'[{"jsonrpc":"2.0","id":9,"result":{}},{"jsonrpc":"2.0","id":1,"result":{}}]')

    assert found.end() == b'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'


def replying(result: Any, *, as_events: bool) -> Answer:
    """Serve a tool `odd` with that result, and a tool `plain` that works."""
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("odd", "plain")]

    async def answer(seen: Seen) -> Reply:
        if seen.method != "POST":
            return Reply(405)
        asked = json.loads(seen.body)
        match asked["method"], asked.get("params", {}).get("name"):
            case "initialize", _:
                version = asked["params"]["protocolVersion"]
                found: Any = {"protocolVersion": version, "capabilities": {"tools": {}}}
                found["serverInfo"] = {"name": "x", "version": "1"}
            case "tools/list", _:
                found = {"tools": tools}
            case "tools/call", "odd":
                found = result
            case "tools/call", _:
                found = {"content": [{"type": "text", "text": "Fine."}]}
            case _:
                return Reply(202)
        said = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": found})
        if not as_events:
            return json_reply(said)
        body = f"event: message\r\ndata: {said}\r\n\r\n".encode()
        return Reply(200, body, {"Content-Type": "text/event-stream"})

    return answer


@pytest.mark.parametrize("as_events", [False, True])
@each_row(
    ("result", "told"),
    [
        ([1, {"a": "b"}], '[1, {"a": "b"}]'),
        ("It rains.", "It rains."),
        (42, "42"),
        (False, "false"),
        (None, "The tool returned an empty result."),
        ([{"type": "text", "text": "It rains."}], "It rains."),
    ],
)
async def test_the_model_reads_a_bare_result_and_the_other_tools_work(result, told, as_events):
    answer = replying(result, as_events=as_events)
    async with desk_before(answer=answer) as contribution:
        odd = await use(named(contribution, "desk_odd"))
        plain = await use(named(contribution, "desk_plain"))

    assert (odd.content, plain.content) == (told, "Fine.")
    assert (odd.failure, messages(contribution)) == (None, [])


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("way", "told"),
    [
        ("bare result", '["a", 1]'),
        ("bare error", f"desk_act: It is broken.{OTHERWISE}"),
    ],
)
async def test_programs_may_answer_so_too(way, told):
    await register(MISBEHAVING, way)

    async with nothing_left_over(), opened_desk(over_stdio()) as contribution:
        assert (await use(contribution.tools[0])).content == told


async def test_a_list_that_is_no_object_is_an_issue_in_our_words():
    async def answer(seen: Seen) -> Reply:
        reply = await replying(None, as_events=False)(seen)
        if b'"tools/list"' in seen.body:
            asked = json.loads(seen.body)
            return json_reply(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": [1]}))
        return reply

    async with desk_before(answer=answer) as contribution:
        assert messages(contribution) == [
            "Toolset desk: the server's response does not follow the protocol."
        ]


@each_row(
    ("name", "info", "expected"),
    [
        ("", {"name": "weather-mcp", "title": "Weather"}, "Weather_odd"),
        ("", {"name": "weather-mcp"}, "weather-mcp_odd"),
        ("", {"name": ""}, "_odd"),
        ("desk", {"name": "weather-mcp", "title": "Weather"}, "desk_odd"),
    ],
)
async def test_a_toolset_without_a_name_is_named_after_its_server(name, info, expected):
    async def answer(seen: Seen) -> Reply:
        reply = await replying(None, as_events=False)(seen)
        if b'"initialize"' not in seen.body:
            return reply
        said = json.loads(reply.body)
        said["result"]["serverInfo"] = {"version": "1", **info}
        return json_reply(json.dumps(said))

    async with desk_before(answer=answer, name=name) as contribution:
        assert contribution.tools[0].spec.name == expected


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
    monkeypatch.setattr(bare, "MOST_TOKENS", 1_000)

    assert readable(message) is message


def serving_bodies(listed: str, result: str) -> Answer:
    """Serve that list of tools and that result of every call, as text."""
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
            "Toolset desk: the tool 'deep' is left out because of its input schema: it is too "
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

    assert told.startswith("desk_act: the server's response does not follow the protocol.")
    assert "input" not in told.split("\n")[0]


LAST = '{"name":"last","inputSchema":{"type":"object"}}'
MANY = {f"parameter_{number}": {"type": "string"} for number in range(130_000)}
LARGE_SCHEMAS: dict[str, dict[str, Any]] = {
    "parameters": MANY,
    "values": {"a": {"enum": ["x" * 40] * 120_000}},
    "numbers": {"a": {"enum": [*range(700_000)]}},
    "a text": {"a": {"description": "x" * 5_000_000}},
}


@pytest.mark.parametrize("levels", [1_000, 10_000])
@pytest.mark.parametrize("properties", LARGE_SCHEMAS.values(), ids=LARGE_SCHEMAS)
async def test_a_deep_schema_and_one_of_5_mb_take_no_other_tool_away(
    properties: dict[str, Any], levels: int, caplog: pytest.LogCaptureFixture
):
    deep = nested(levels, '{"type":"object","properties":{"a":', "}}")
    large = json.dumps({"type": "object", "properties": properties})
    odd = f'{{"name":"deep","inputSchema":{deep}}},{{"name":"large","inputSchema":{large}}}'

    async with desk_before(answer=serving_bodies(f"{ECHO},{odd},{LAST}", "{}")) as contribution:
        names = [tool.spec.name for tool in contribution.tools]
        told = messages(contribution)

    assert names == ["desk_echo", "desk_last"]
    assert {name: sum(name in one for one in told) for name in ("'deep'", "'large'")} == {
        "'deep'": 1,
        "'large'": 1,
    }
    assert [sum(one in line for line in caplog.messages) for one in told] == [1, 1]
