"""Servers of both revisions of MCP: discovery first, otherwise the handshake."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from apps.capabilities.mcp.sessions.endpoints import ServerEndpoint
from apps.capabilities.mcp.sessions.failures import ConnectionFailed
from apps.capabilities.mcp.sessions.listings import ListingReader
from apps.capabilities.mcp.sessions.pool import SessionPool
from apps.capabilities.mcp.sessions.revisions import MOST_REMEMBERED, HandshakeServers
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.request_context import RequestContext
from tests.capabilities.mcp.desk import answering
from tests.capabilities.mcp.servers import nothing_left_over
from tests.capabilities.service import Answer, Reply, Seen, Service, json_reply, serving

DISCOVER, INITIALIZE = "server/discover", "initialize"
CHALLENGE = 'Bearer resource_metadata="https://x.example.com/m", scope="notes.read"'


def method_of(seen: Seen) -> str:
    return str(json.loads(seen.body)["method"]) if seen.body else seen.method


def error(code: int, status: int, **data: Any) -> Reply:
    told = {"code": code, "message": "no", **({"data": data} if data else {})}
    return json_reply(json.dumps({"jsonrpc": "2.0", "id": None, "error": told}), status)


def refusing(replies: dict[str, Reply], otherwise: Answer) -> Answer:
    async def answer(seen: Seen) -> Reply:
        return replies.get(method_of(seen)) or await otherwise(seen)

    return answer


async def modern(seen: Seen) -> Reply:
    """Serve only the newest revision, with tools that never change."""
    lists = {"ttlMs": 0, "cacheScope": "private", "resultType": "complete"}
    match method_of(seen):
        case "server/discover":
            found = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
            result: dict[str, Any] = {**found, **lists}
        case "tools/list":
            result = {"tools": [{"name": "act", "inputSchema": {"type": "object"}}], **lists}
        case _:
            return error(-32020, 400)
    id = json.loads(seen.body)["id"]
    return json_reply(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}))


@asynccontextmanager
async def served(answer: Answer) -> AsyncIterator[tuple[Service, SessionPool]]:
    async with nothing_left_over() as pool, serving(answer=answer) as service:
        yield service, pool


async def list_tools(service: Service, pool: SessionPool, bucket: str = "user-1") -> list[str]:
    slot = pool.slot(ServerEndpoint("streamable_http", service.url, Trust.OPERATOR), bucket)
    context = RequestContext(seconds=30)
    listing = await slot.cached("listing", context, ListingReader().read)
    return [tool.name for tool in listing.tools]


async def test_a_server_that_refuses_the_handshake_is_discovered():
    async with served(modern) as (service, pool):
        assert await list_tools(service, pool) == ["act"]
        asked = [method_of(seen) for seen in service.seen]

    assert asked == [DISCOVER, "tools/list"]


@pytest.mark.parametrize(
    "refusal",
    [
        Reply(404),
        Reply(400, b"Bad Request"),
        error(-32601, 200),
        error(-32603, 500),
        error(-32000, 400),
        error(-32020, 400),
        error(-32022, 400, supported=["2025-11-25"], requested="2026-07-28"),
    ],
)
@pytest.mark.slow("waits for a server that does not answer")
async def test_a_server_of_the_handshake_is_asked_for_the_newer_revision_once(refusal: Reply):
    async with served(refusing({DISCOVER: refusal}, answering(Reply(500)))) as (service, pool):
        assert await list_tools(service, pool) == ["act"]
        assert await list_tools(service, pool, "user-2") == ["act"]
        asked = [method_of(seen) for seen in service.seen]

    both = [INITIALIZE, "notifications/initialized", "tools/list"]
    assert asked == [DISCOVER, *both, *both]


async def test_a_server_that_was_upgraded_is_discovered():
    async with served(modern) as (service, pool):
        pool.handshakes.add(service.url)
        assert await list_tools(service, pool) == ["act"]
        asked = [method_of(seen) for seen in service.seen]

        assert (asked, service.url in pool.handshakes) == (
            [INITIALIZE, DISCOVER, "tools/list"],
            False,
        )


def test_remembered_servers_have_a_limit():
    servers = HandshakeServers()
    for number in range(MOST_REMEMBERED + 1):
        servers.add(str(number))

    assert ("0" in servers, "1" in servers, len(servers.until)) == (False, True, MOST_REMEMBERED)


@pytest.mark.parametrize(
    ("status", "challenge", "needs"),
    [
        (401, CHALLENGE, (True, False)),
        (403, f'{CHALLENGE}, error="insufficient_scope"', (False, True)),
    ],
)
async def test_a_refused_sign_in_is_final_and_keeps_its_challenge(
    status: int, challenge: str, needs: tuple[bool, bool]
):
    refusal = Reply(status, headers={"WWW-Authenticate": challenge})
    answer = refusing({DISCOVER: refusal, INITIALIZE: error(-32600, 400)}, answering(Reply(500)))

    async with served(answer) as (service, pool):
        with pytest.raises(ConnectionFailed) as failed:
            await list_tools(service, pool)
        asked = [method_of(seen) for seen in service.seen]

    failure = failed.value
    assert asked == [DISCOVER]
    assert (failure.needs_sign_in, failure.needs_scope, failure.challenge) == (*needs, challenge)


async def test_a_server_that_is_down_is_asked_once():
    async with served(refusing({DISCOVER: Reply(503)}, answering(Reply(500)))) as (service, pool):
        with pytest.raises(ConnectionFailed) as failed:
            await list_tools(service, pool)
        asked = [method_of(seen) for seen in service.seen]

    assert (asked, failed.value.status) == ([DISCOVER], 503)


async def test_a_scope_that_a_token_lacks_is_named():
    refusal = Reply(403, headers={"WWW-Authenticate": 'Bearer error="insufficient_scope", scope=w'})

    async with served(refusing({DISCOVER: refusal}, modern)) as (service, pool):
        with pytest.raises(ConnectionFailed) as failed:
            await list_tools(service, pool)

    told = "HTTP error for desk: 403 Forbidden; the token lacks the scope 'w'."
    assert failed.value.message("desk") == told


def events(*messages: dict[str, Any]) -> Reply:
    told = [f"data: {json.dumps({'jsonrpc': '2.0', **message})}\n\n" for message in messages]
    return Reply(200, "".join(told).encode(), {"Content-Type": "text/event-stream"})


@pytest.mark.parametrize("reports", [True, False])
async def test_changes_of_lists_are_asked_for_where_the_server_reports_them(reports: bool):
    async def answer(seen: Seen) -> Reply:
        match method_of(seen):
            case "server/discover":
                reply = await modern(seen)
                tools = json.dumps({"tools": {"listChanged": reports}})
                return json_reply(reply.body.decode().replace('{"tools": {}}', tools))
            case "subscriptions/listen":
                message = json.loads(seen.body)
                stamped = {"_meta": {"io.modelcontextprotocol/subscriptionId": message["id"]}}
                asked = {"notifications": message["params"]["notifications"], **stamped}
                return events(
                    {"method": "notifications/subscriptions/acknowledged", "params": asked},
                    {"method": "notifications/tools/list_changed", "params": stamped},
                    {"id": message["id"], "result": {"resultType": "complete", **stamped}},
                )
            case _:
                return await modern(seen)

    async with served(answer) as (service, pool):
        assert await list_tools(service, pool) == ["act"]
        (slot,) = pool.slots.values()
        async with asyncio.timeout(60):
            while reports and not slot.changes:
                await asyncio.sleep(0.01)
        asked = {method_of(seen) for seen in service.seen}

    assert ("subscriptions/listen" in asked) == reports
