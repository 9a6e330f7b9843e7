"""Servers with correct messages in an unusual format are understood."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from apps.agent.events import Event
from apps.capabilities.mcp.messages.bare import MOST_MESSAGES, messages_in
from apps.workspace.egress.request_context import RewrittenMessages
from tests.capabilities.manifests import stage_text, use
from tests.capabilities.mcp.desk import desk_before, messages, named, opened_desk
from tests.capabilities.mcp.servers import MISBEHAVING, nothing_left_over, over_stdio, register
from tests.capabilities.service import Answer, Reply, Seen, json_reply
from tests.tables import each_row

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NOTICE = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'
ANSWER = '{"jsonrpc":"2.0","id":1,"result":{}}'
Write = Callable[[str], Reply]


def events(text: str) -> Reply:
    return Reply(200, text.encode(), {"Content-Type": "text/event-stream"})


def with_id(text: str, write: str) -> str:
    message = json.loads(text)
    return text.replace(f'"id": {message["id"]}', f'"id": {write.format(message["id"])}')


WAYS: dict[str, Write] = {
    "an event without its blank line": lambda said: events(f"event: message\ndata: {said}\n"),
    "an event that ends with its data": lambda said: events(f"data: {said}"),
    "an event with other line ends": lambda said: events(f"data: {said}\r\n"),
    "a field after the data": lambda said: events(f"data: {said}\nid: 7"),
    "a batch": lambda said: json_reply(f"[{said}]"),
    "a batch with a notice": lambda said: json_reply(f"[{NOTICE}, {said}]"),
    "a batch with a notice behind": lambda said: json_reply(f" [{said},\n{NOTICE}]"),
    "a batch in an event": lambda said: events(f"data: [{said}, {NOTICE}]\n\n"),
    "a batch in an open event": lambda said: events(f"data: [{NOTICE}, {said}]"),
    "an id with a fraction": lambda said: json_reply(with_id(said, "{}.0")),
    "an id with an exponent": lambda said: json_reply(with_id(said, "{}0e-1")),
    "an id as the text of a fraction": lambda said: json_reply(with_id(said, '"{}.0"')),
    "an id with a fraction in an event": lambda said: events(f"data: {with_id(said, '{}.0')}\n\n"),
    "all of it": lambda said: events(f"data: [{with_id(said, '{}.00')},{NOTICE}]"),
}


def writing(write: Write, *tools: dict[str, Any]) -> Answer:
    listed = tools or ({"name": "act", "inputSchema": SCHEMA},)

    async def answer(seen: Seen) -> Reply:
        if seen.method != "POST":
            return Reply(405)
        asked = json.loads(seen.body)
        match asked["method"]:
            case "initialize":
                version = asked["params"]["protocolVersion"]
                found: Any = {"protocolVersion": version, "capabilities": {"tools": {}}}
                found["serverInfo"] = {"name": "x", "version": "1"}
            case "tools/list":
                found = {"tools": listed}
            case "tools/call":
                found = {"content": [{"type": "text", "text": asked["params"]["name"]}]}
            case _:
                return Reply(202)
        return write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": found}))

    return answer


@pytest.mark.parametrize("way", WAYS)
async def test_a_tool_is_listed_and_called_however_its_server_writes(way):
    async with desk_before(answer=writing(WAYS[way])) as contribution:
        assert messages(contribution) == []
        assert (await use(named(contribution, "desk_act"), city="Oslo")).content == "act"


def progress(said: str, seen: Seen) -> str:
    token = json.loads(seen.body)["params"]["_meta"]["progressToken"]
    params = {"progressToken": token, "progress": 1, "message": "half\nway"}
    return json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


async def test_notifications_in_a_batch_are_read():
    """Here, it is the progress of a call, which its stage shows."""
    found: list[Event] = []

    async def answer(seen: Seen) -> Reply:
        reply = await writing(json_reply)(seen)
        if seen.method != "POST" or json.loads(seen.body)["method"] != "tools/call":
            return reply
        said = reply.body.decode()
        return json_reply(f"[{progress(said, seen)},\n {said}]")

    async with desk_before(answer=answer) as contribution:
        result = await use(named(contribution, "desk_act"), found.append, city="Oslo")

    assert result.content == "act"
    assert "half way (1)" in stage_text(found)


async def test_a_batch_without_the_answer_fails_at_once():
    async def answer(seen: Seen) -> Reply:
        reply = await writing(json_reply)(seen)
        is_call = seen.method == "POST" and json.loads(seen.body)["method"] == "tools/call"
        return json_reply(f"[{NOTICE}, {NOTICE}]") if is_call else reply

    async with desk_before(answer=answer) as contribution:
        result = await use(named(contribution, "desk_act"), city="Oslo")

    assert "ended without a response" in result.content


BROKEN_NOTICE = '{"jsonrpc":"2.0","method":"notifications/message","params":5}'
OTHER = '{"jsonrpc":"2.0","id":99999,"result":{"content":[{"type":"text","text":"elsewhere"}]}}'
QUOTED = '"{}"'
STRAY: dict[str, Write] = {
    "garbage": lambda said: events(f"data: garbage\n\ndata: {said}\n\n"),
    "garbage of several lines": lambda said: events(
        f"event: message\ndata: {{\ndata: x\nid: 1\n\ndata: {said}\n\n"
    ),
    "a notice without an object": lambda said: events(f"data: {BROKEN_NOTICE}\n\ndata: {said}\n\n"),
    "such a notice in a batch": lambda said: events(f"data: [{BROKEN_NOTICE},{said}]\n\n"),
    "another answer": lambda said: events(f"data: {OTHER}\n\ndata: {said}\n\n"),
    "the answer in several lines": lambda said: events(
        "".join(f"data: {line}\n" for line in json.dumps(json.loads(said), indent=1).splitlines())
        + "\n"
    ),
    "an id as a text": lambda said: events(f"data: {with_id(said, QUOTED)}\n\n"),
}


@pytest.mark.parametrize("way", STRAY)
async def test_what_is_not_the_answer_of_a_call_is_skipped(way):
    async with desk_before(answer=writing(STRAY[way])) as contribution:
        assert messages(contribution) == []
        assert (await use(named(contribution, "desk_act"), city="Oslo")).content == "act"


async def test_a_skipped_message_is_logged_once(caplog):
    async def answer(seen: Seen) -> Reply:
        reply = await writing(json_reply)(seen)
        is_call = seen.method == "POST" and json.loads(seen.body)["method"] == "tools/call"
        stray = f"data: garbage\n\ndata: {OTHER}\n\ndata: {reply.body.decode()}\n\n"
        return events(stray) if is_call else reply

    async with desk_before(answer=answer) as contribution:
        for _ in range(2):
            assert (await use(named(contribution, "desk_act"), city="Oslo")).content == "act"

    logged = [one.getMessage() for one in caplog.records if "skipped it" in one.getMessage()]
    assert len(logged) == 1
    assert logged[0].endswith(" sent a message that is not JSON-RPC; skipped it.")


async def test_an_answer_to_another_request_alone_is_no_result():
    async def answer(seen: Seen) -> Reply:
        reply = await writing(json_reply)(seen)
        is_call = seen.method == "POST" and json.loads(seen.body)["method"] == "tools/call"
        return events(f"data: {OTHER}\n\n") if is_call else reply

    async with desk_before(answer=answer) as contribution:
        result = await use(named(contribution, "desk_act"), city="Oslo")

    assert "elsewhere" not in result.content
    assert "ended without a response" in result.content


@pytest.mark.parametrize("is_stream", [False, True])
async def test_bytes_that_are_not_utf_8_are_replaced(is_stream):
    async def answer(seen: Seen) -> Reply:
        reply = await writing(json_reply)(seen)
        is_call = seen.method == "POST" and json.loads(seen.body)["method"] == "tools/call"
        if not is_call:
            return reply
        odd = reply.body.replace(b'"act"', b'"a\xffct"')
        return (
            replace(events(""), body=b"data: " + odd + b"\n\n")
            if is_stream
            else replace(reply, body=odd)
        )

    async with desk_before(answer=answer) as contribution:
        result = await use(named(contribution, "desk_act"), city="Oslo")

    assert result.content == "a\ufffdct"


def with_half_a_pair(said: str) -> str:
    return said.replace('"text": "odd"', '"text": "\\ud83d cut"')


@pytest.mark.parametrize(
    "write",
    [
        lambda said: json_reply(with_half_a_pair(said)),
        lambda said: events(f"data: {with_half_a_pair(said)}\n\n"),
    ],
    ids=["an answer", "an event"],
)
async def test_half_a_surrogate_pair_is_replaced(write):
    tools = ({"name": name, "inputSchema": SCHEMA} for name in ("odd", "plain"))

    async with desk_before(answer=writing(write, *tools)) as contribution:
        odd = await use(named(contribution, "desk_odd"), city="Oslo")
        plain = await use(named(contribution, "desk_plain"), city="Oslo")

    assert (odd.content, plain.content) == ("\ufffd cut", "plain")


@pytest.mark.django_db
async def test_half_a_surrogate_pair_of_a_program_is_replaced():
    await register(MISBEHAVING, "half a pair")

    async with nothing_left_over(), opened_desk(over_stdio()) as contribution:
        odd = await use(named(contribution, "desk_act"))
        plain = await use(named(contribution, "desk_plain"))

    assert (odd.content, plain.content) == ("\ufffd cut", "plain")


@pytest.mark.django_db
@pytest.mark.parametrize("way", ["batches", "float ids"])
async def test_programs_may_write_so_too(way):
    await register(MISBEHAVING, way)

    async with nothing_left_over(), opened_desk(over_stdio()) as contribution:
        assert messages(contribution) == []
        assert (await use(contribution.tools[0])).content == "Fine."


async def test_a_schema_may_be_a_json_text_and_any_other_text_leaves_out_its_tool_alone():
    tools: list[dict[str, Any]] = [
        {"name": "texts", "inputSchema": json.dumps(SCHEMA)},
        {"name": "words", "inputSchema": "a city"},
        {"name": "lists", "inputSchema": "[1]"},
        {"name": "deep", "inputSchema": "[" * 50_000},
        {"name": "long", "inputSchema": json.dumps({**SCHEMA, "title": "x" * 100_000})},
        {"name": "plain", "inputSchema": SCHEMA},
    ]

    async with desk_before(answer=writing(json_reply, *tools)) as contribution:
        offered = {tool.spec.name: tool.spec.parameters for tool in contribution.tools}
        said = messages(contribution)

    assert list(offered) == ["desk_texts", "desk_plain"]
    assert offered["desk_texts"] == offered["desk_plain"]
    for name in ("words", "lists", "deep", "long"):
        (reason,) = (text for text in said if f"'{name}'" in text)
        assert "inputSchema is “" in reason
    assert "the tool 'words' is left out: inputSchema is “a city”, not an object." in "\n".join(
        said
    )


@each_row(
    ("text", "expected"),
    [
        (ANSWER, [ANSWER]),
        (f"[{ANSWER}]", [ANSWER]),
        (f"[{ANSWER},{NOTICE}]", [NOTICE, ANSWER]),
        ("[]", ["[]"]),
        ("[1]", ["1"]),
        ("[", ["["]),
        (f"[{ANSWER}", [f"[{ANSWER}"]),
        ('{"jsonrpc":"2.0","id":5.0,"method":"x"}', ['{"jsonrpc":"2.0","id":5,"method":"x"}']),
        (
            '{"jsonrpc":"2.0","id":"5.0","method":"x"}',
            ['{"jsonrpc":"2.0","id":"5.0","method":"x"}'],
        ),
        (ANSWER.replace("1,", "1.5,"), [ANSWER.replace("1,", "1.5,")]),
        (ANSWER.replace("1,", "1e999,"), [ANSWER.replace("1,", "1e999,")]),
        (ANSWER.replace("1,", '"1.x",'), [ANSWER.replace("1,", '"1.x",')]),
    ],
)
def test_a_text_is_as_many_messages_as_it_has(text, expected):
    assert [one.decode() for one in messages_in(text.encode())] == expected


def test_a_batch_that_is_too_large_is_not_read():
    text = b"[" + b",".join([NOTICE.encode()] * (MOST_MESSAGES + 1)) + b"]"

    assert messages_in(text) == [text]


@pytest.mark.parametrize("size", [1, 7, 1_000])
@each_row(
    ("body", "expected"),
    [
        (f"data: {ANSWER}", f"data: {ANSWER}\n\n"),
        (f"data: {ANSWER}\n", f"data: {ANSWER}\n\n\n"),
        (f"data: {ANSWER}\r\n", f"data: {ANSWER}\r\n\n\n"),
        (f"data: {ANSWER}\r\r", f"data: {ANSWER}\r\r"),
        (f"data: {ANSWER}\n\n", f"data: {ANSWER}\n\n"),
        (f"data: {ANSWER}\r\n\r\n", f"data: {ANSWER}\r\n\r\n"),
        (f"data: {ANSWER}\n\n: bye\n", f"data: {ANSWER}\n\n: bye\n"),
        (f"data: {ANSWER[:-9]}", f"data: {ANSWER[:-9]}"),
        (f"data: [{ANSWER},{NOTICE}]\n\n", f"data: {NOTICE}\n\ndata: {ANSWER}\n\n"),
        ("event: endpoint\ndata: /messages\n\n", "event: endpoint\ndata: /messages\n\n"),
    ],
)
def test_the_last_event_of_a_stream_is_closed(body, expected, size):
    found = RewrittenMessages(messages_in, 1_000, is_stream=True)
    written = body.encode()

    pieces = [found.feed(written[at : at + size]) for at in range(0, len(written), size)]

    assert b"".join([*pieces, found.end()]).decode() == expected
