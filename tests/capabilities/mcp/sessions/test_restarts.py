"""After a server has restarted and lost its sessions, each caller gets a new session."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from apps.agent.events import Event
from apps.capabilities.mcp.sessions.pool import SessionPool
from apps.capabilities.registry import Contribution
from tests.capabilities.manifests import stage_text, use
from tests.capabilities.mcp.desk import answering, desk_before, named, opened_desk
from tests.capabilities.mcp.servers import Apart, nothing_left_over, over_http, running_apart
from tests.capabilities.service import Reply, Seen, json_reply
from tests.contract import proves
from tests.tables import each_row


@asynccontextmanager
async def desk_apart() -> AsyncIterator[tuple[Apart, Contribution, SessionPool]]:
    async with nothing_left_over() as sessions:
        with running_apart("http") as server:
            async with opened_desk(over_http(server.url)) as contribution:
                yield server, contribution, sessions


@proves("9.2")
async def test_a_server_that_was_started_anew_is_asked_again_by_all_who_were_in_its_session():
    async with desk_apart() as (server, contribution, sessions):
        counting = named(contribution, "desk_count")
        before = await use(counting)
        server.kill()
        server.start()
        after = await asyncio.gather(*(use(counting) for _ in range(4)))
        (slot,) = sessions.slots.values()
        opened_times = slot.opened

    assert before.content == "1"
    assert sorted(result.content for result in after) == ["1", "2", "3", "4"]
    assert opened_times == 1  # the revision without sessions needs no second one


async def test_a_call_that_a_server_had_taken_when_it_was_killed_is_not_repeated():
    waiting = asyncio.Event()

    def emit(event: Event) -> None:
        if "waiting (0 of 1)" in stage_text([event]):
            waiting.set()

    async with desk_apart() as (server, contribution, _):
        running = asyncio.ensure_future(use(named(contribution, "desk_wait"), emit))
        async with asyncio.timeout(60):
            await waiting.wait()
        server.kill()
        server.start()
        broken = await running
        after = await use(named(contribution, "desk_add"), a=1)

    assert broken.failure is not None
    assert after.content == "2"


def refusal(status: int, code: int, message: str) -> Reply:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return json_reply(json.dumps(error), status)


@dataclass
class Forgetful:
    """Serve handshakes that each start a new session; only the newest is valid. `known` is its
    name. Calls in any other are refused as `refused` defines."""

    refused: Reply
    known: str = "1"
    begun: int = 0
    called: list[str] = field(default_factory=list)

    async def __call__(self, seen: Seen) -> Reply:
        method = json.loads(seen.body)["method"] if seen.method == "POST" else ""
        plain = await answering(Reply(500))(seen)
        if method == "initialize":
            self.begun += 1
            return Reply(200, plain.body, {**plain.headers, "Mcp-Session-Id": str(self.begun)})
        if method != "tools/call":
            return plain
        session = seen.headers["mcp-session-id"]
        self.called.append(session)
        if session != self.known:
            id = json.dumps(json.loads(seen.body)["id"]).encode()
            return replace(self.refused, body=self.refused.body.replace(b"null", id))
        return result_of(seen, {"content": [{"type": "text", "text": session}]})


def result_of(seen: Seen, result: Mapping[str, Any]) -> Reply:
    id = json.loads(seen.body)["id"]
    return json_reply(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}))


@proves("9.2")
@each_row(
    "refused",
    [
        Reply(404),
        Reply(404, b"<h1>Nothing here</h1>", {"Content-Type": "text/html"}),
        refusal(404, -32600, "Session not found"),
        refusal(404, -32001, "Session not found"),
        refusal(404, -32603, "whatever"),
        refusal(400, -32000, "Bad Request: No valid session ID provided"),
        refusal(400, -32600, "Bad Request: Missing session ID"),
        refusal(400, -32001, "SESSION expired"),
        json_reply('{"jsonrpc": "2.0", "error": {"code": -32000, "message": "No session"}}', 400),
    ],
)
async def test_a_server_that_forgot_the_session_gets_a_new_one(refused):
    server = Forgetful(refused)

    async with desk_before(answer=server) as contribution:
        first = await use(contribution.tools[0])
        server.known = "2"
        second = await use(contribution.tools[0])

    assert (first.content, second.content) == ("1", "2")
    assert server.called == ["1", "1", "2"]


@proves("9.2")
@each_row(
    ("refused", "told"),
    [
        (refusal(400, -32602, "session_id is missing"), "session_id is missing"),
        (refusal(400, -32603, "The session broke"), "The session broke"),
        (refusal(400, -32000, "The table is full"), "The table is full"),
        (refusal(200, -32000, "No valid session"), "No valid session"),
        (refusal(500, -32000, "No valid session"), "No valid session"),
        (Reply(400, b"No valid session"), "400 Bad Request"),
        (json_reply('"No valid session"', 400), "400 Bad Request"),
        (json_reply('{"error": "No valid session"}', 400), "400 Bad Request"),
    ],
)
async def test_what_a_server_says_of_anything_else_is_no_reason_to_ask_again(refused, told):
    server = Forgetful(refused, known="2")

    async with desk_before(answer=server) as contribution:
        result = await use(contribution.tools[0])

    assert result.content.startswith(f"desk_act: {told}")
    assert server.called == ["1"]


async def test_a_server_that_knows_no_session_at_all_is_asked_twice():
    server = Forgetful(refusal(404, -32600, "Session not found"), known="none")

    async with desk_before(answer=server) as contribution:
        result = await use(contribution.tools[0])

    assert result.content.startswith("desk_act: Session not found")
    assert server.called == ["1", "2"]


def events(*data: Mapping[str, Any] | None) -> Reply:
    """Return a stream that ends without an answer. Its first event can be replayed."""
    lines = [
        f"id: {n}\nretry: 1\ndata: {json.dumps(d) if d else ''}\n\n" for n, d in enumerate(data)
    ]
    return Reply(200, "".join(lines).encode(), {"Content-Type": "text/event-stream"})


PING = {"jsonrpc": "2.0", "id": 7, "method": "ping"}


@proves("9.2")
@pytest.mark.parametrize("begun", [events(None), events(PING), Reply(202), None])
async def test_a_call_that_was_taken_is_not_repeated_whatever_is_refused_after_it(
    begun: Reply | None,
):
    calls = 0
    plain = answering(Reply(500))

    async def answer(seen: Seen) -> Reply:
        nonlocal calls
        message = json.loads(seen.body) if seen.method == "POST" else {}
        if message.get("method") == "initialize":
            reply = await plain(seen)
            return Reply(200, reply.body, {**reply.headers, "Mcp-Session-Id": "1"})
        if message.get("method") == "tools/call":
            calls += 1
            if begun is None:
                raise ConnectionError("cut")
            return begun
        if calls:
            return refusal(404, -32600, "Session not found")
        return await plain(seen)

    async with desk_before(answer=answer) as contribution:
        result = await use(contribution.tools[0])
        asked = calls

    assert result.failure is not None
    assert asked == 1
