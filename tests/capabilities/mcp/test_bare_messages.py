"""Messages whose result or error is no object, in whichever body they arrive."""

import json
from typing import Any

import pytest

from apps.capabilities.mcp.bare_messages import with_objects
from apps.workspace.egress.request_context import Messages
from tests.capabilities.manifests import OTHERWISE, use
from tests.capabilities.mcp.desk import desk_before, messages, named, opened_desk
from tests.capabilities.mcp.servers import (
    MISBEHAVING,
    nothing_left_over,
    over_stdio,
    register,
)
from tests.capabilities.service import Answer, Reply, Seen, json_reply
from tests.tables import each_row

MOST = 1_000


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
        ({"error": {"code": 1}, "result": None}, {"error": {"code": 1}, "result": None}),
        ({"method": "ping"}, {"method": "ping"}),
    ],
)
def test_a_result_that_is_no_object_becomes_one(fields, expected):
    assert rewritten(**fields) == expected


@each_row(("message",), [(b"",), (b"{",), (b"[]",), (b"null",), (b"\xff",), (b"[" * 100_000,)])
def test_what_is_no_message_stays_as_it_is(message):
    assert with_objects(message) == message


@pytest.mark.parametrize("size", [1, 7, 1_000])
@each_row(
    ("is_stream", "body", "expected"),
    [
        (False, b'{"result":\n"x"}', b'{"result":{"content":["x"]}}'),
        (
            True,
            b': hi\r\nid: 1\r\ndata:{"result":"x"}\r\n\r\n',
            b': hi\r\nid: 1\r\ndata: {"result":{"content":["x"]}}\r\n\r\n',
        ),
        (True, b'data: {"result":{}}\n\ndata: {"resu', b'data: {"result":{}}\n\ndata: {"resu'),
        (True, b'data: {"result":1}', b'data: {"result":{"content":[],"structuredContent":1}}'),
        (True, b'data: {\rdata: "a":1}\r\r', b'data: {\rdata: "a":1}\r\r'),
        (True, b"data:" + b"x" * 2_000 + b"\n", b"data:" + b"x" * 2_000 + b"\n"),
        (False, b"x" * 2_000, b"x" * 2_000),
    ],
)
def test_messages_are_found_in_a_body_that_comes_in_pieces(is_stream, body, expected, size):
    found = Messages(with_objects, MOST, is_stream=is_stream)

    pieces = [found.feed(body[at : at + size]) for at in range(0, len(body), size)]

    assert b"".join([*pieces, found.end()]) == expected
    assert len(found.rest) <= MOST


def replying(result: Any, *, as_events: bool) -> Answer:
    """A server by hand whose tool `odd` has that result, and whose tool `plain` works."""
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
        (None, "The tool gave an empty result."),
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
            "Toolset desk: the server's answer does not follow the protocol."
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
