"""Connections to servers: callers, headers, concurrency, and broken connections."""

import asyncio
import json
from typing import Any

import pytest

from tests.capabilities.manifests import CALLER, use
from tests.capabilities.mcp.desk import answering, desk_before, messages, opened_desk
from tests.capabilities.mcp.servers import nothing_left_over, over_http
from tests.capabilities.service import Reply, Seen, json_reply, serving
from tests.contract import proves
from tests.servers.closing import close_server


@pytest.mark.parametrize(
    ("how", "header"),
    [
        ({"type": "bearer", "token": "t"}, ("authorization", "Bearer t")),
        ({"type": "api_key", "name": "X-Key", "key": "k"}, ("x-key", "k")),
        ({"type": "basic", "username": "me", "password": "p"}, ("authorization", "Basic bWU6cA==")),
        (None, ("authorization", "")),
    ],
)
async def test_every_request_is_made_as_the_manifest_says(how, header):
    name, value = header
    async with nothing_left_over(), serving(answer=answering(Reply(500))) as service:
        async with opened_desk(over_http(service.url, authorization=how)) as contribution:
            assert messages(contribution) == []
        found = {seen.headers.get(name, "") for seen in service.seen}

    assert found == {value}


@proves("9.1", "G-60")
async def test_headers_of_the_caller_go_where_the_toolset_names_them_and_nowhere_else():
    headers = {"X-Tenant": " t ", "X-KEY": "mine", "X-Bad": "a\r\nb", "Host": "evil"}
    caller = CALLER.at(headers=headers)
    key = {"type": "api_key", "name": "X-Key", "key": "operator"}
    named: dict[str, Any] = {
        "authorization": key,
        "forward_headers": ["x-tenant", "X-Key", "X-Bad", "Host"],
    }

    async with nothing_left_over(), serving(answer=answering(Reply(500))) as service:
        async with opened_desk(
            over_http(f"{service.url}/named", name="a", **named),
            over_http(f"{service.url}/silent", name="b"),
            over_http(f"{service.url}/none", name="c", forward_headers=[]),
            caller=caller,
        ) as contribution:
            assert messages(contribution) == []
        told = {
            (seen.target, tuple(seen.told("x-tenant", "x-key", "x-bad").items()))
            for seen in service.seen
        }

    assert told == {
        ("/named", (("x-tenant", "t"), ("x-key", "operator"))),
        ("/silent", ()),
        ("/none", ()),
    }


@proves("9.1")
async def test_sessions_differ_by_the_headers_that_they_carry(http_url):
    toolset = over_http(http_url, forward_headers=["X-Tenant"])

    async with nothing_left_over() as pool:
        for number, tenant in enumerate(("ten-1", "ten-2", "ten-1")):
            caller = CALLER.at(headers={"X-Tenant": tenant, "X-Trace": str(number)})
            async with opened_desk(toolset, caller=caller) as contribution:
                assert messages(contribution) == []
        keys, opened = repr(list(pool.slots)), [slot.opened for slot in pool.slots.values()]

    assert opened == [1, 1]
    assert "ten-" not in keys


async def test_all_servers_are_asked_at_once():
    plain = answering(Reply(500))
    both = asyncio.Barrier(2)

    async def answer(seen: Seen) -> Reply:
        if b'"initialize"' in seen.body:
            async with asyncio.timeout(60):
                await both.wait()
        return await plain(seen)

    async with nothing_left_over(), serving(answer=answer) as service:
        toolsets = [over_http(f"{service.url}/{name}", name=name) for name in ("a", "b")]
        async with opened_desk(*toolsets) as contribution:
            assert [tool.spec.name for tool in contribution.tools] == ["a_act", "b_act"]


async def test_what_a_server_says_of_its_failure_is_told():
    async def answer(seen: Seen) -> Reply:
        if seen.method != "POST":
            return Reply(405)
        error = {"code": -32000, "message": "out of\npaper"}
        id = json.loads(seen.body).get("id")
        return json_reply(json.dumps({"jsonrpc": "2.0", "id": id, "error": error}))

    async with desk_before(answer=answer) as contribution:
        (issue,) = contribution.issues

    assert issue.message == "MCP error for desk: out of paper"
    assert issue.details == "MCPError: out of paper"


async def streaming(call: bytes, *, again: bool) -> asyncio.Server:
    """Serve calls as an event stream, once interrupted, or endless."""
    plain = answering(Reply(500))

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            size = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
            body = await reader.readexactly(int(size or 0))
            if b'"tools/call"' not in body:
                reply = await plain(Seen(head.split()[0].decode(), "/", {}, body))
                kind = reply.headers.get("Content-Type", "text/plain")
                top = f"HTTP/1.1 {reply.status} X\r\nContent-Type: {kind}\r\nConnection: close\r\n"
                top += f"Content-Length: {len(reply.body)}\r\n\r\n"
                writer.write(top.encode() + reply.body)
                await writer.drain()
                return
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
            writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
            while True:
                writer.write(f"{len(call):x}\r\n".encode() + call + b"\r\n")
                await writer.drain()
                if not again:
                    return
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    return await asyncio.start_server(handle, "127.0.0.1", 0)


NOTICE = json.dumps(
    {
        "jsonrpc": "2.0",
        "method": "notifications/message",
        "params": {"level": "info", "data": "x" * 100},
    }
)


@pytest.mark.parametrize(
    ("event", "again", "told"),
    [
        (f"data: {NOTICE}\n\n", True, "desk_act: the server sent too many messages."),
        (
            f"data: {NOTICE}\n\n",
            False,
            ("desk_act: the server disconnected before the end of its response."),
        ),
        (f": {'x' * 4000}\n" * 100, True, "desk_act: the server's response is too large"),
    ],
)
async def test_an_answer_that_does_not_end_well_is_told(event, again, told):
    async with nothing_left_over():
        server = await streaming(event.encode(), again=again)
        async with server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
            async with opened_desk(over_http(url)) as contribution:
                result = await use(contribution.tools[0])
            await close_server(server)

    assert result.content.startswith(told)
