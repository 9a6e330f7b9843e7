"""Unresponsive servers, and runs that would wait for them."""

import asyncio

import pytest

from apps.capabilities.mcp.sessions import slots
from apps.capabilities.mcp.sessions.pool import current_pool
from tests.capabilities.mcp.desk import answering, messages, opened_desk
from tests.capabilities.mcp.servers import nothing_left_over, over_http
from tests.capabilities.service import Answer, Reply, Seen, serving


def silent_at(*methods: str) -> Answer:
    """Serve everything except these methods, which are never answered."""
    inner = answering(Reply(200))

    async def answer(seen: Seen) -> Reply:
        if any(f'"{method}"'.encode() in seen.body for method in methods):
            await asyncio.Event().wait()
        return await inner(seen)

    return answer


@pytest.mark.parametrize(
    "methods", [("initialize",), ("notifications/initialized", "tools/list"), ("tools/list",)]
)
async def test_a_silent_server_costs_its_limit_once(methods, monkeypatch, caplog):
    monkeypatch.setattr(slots, "LIST_SECONDS", 1.0)
    monkeypatch.setattr(slots, "CONNECT_SECONDS", 1.0)
    told: list[str] = []
    requests: list[int] = []
    async with nothing_left_over(), serving(answer=silent_at(*methods)) as service:
        for _ in range(2):
            async with opened_desk(over_http(service.url)) as contribution:
                told += messages(contribution)
            requests.append(len(service.seen))
        seen = len(service.seen)
        slot = next(iter(current_pool().slots.values()))
        slot.forget_failures()
        async with opened_desk(over_http(service.url)):
            asked_again = len(service.seen) > seen

    assert told == ["Toolset desk: the server timed out."] * 2
    assert requests[1] == requests[0]
    assert asked_again
    logged = f"A request to the MCP server {service.url} failed after 1 s: the server timed out."
    assert [one for one in caplog.messages if one.startswith("A request to")] == [logged] * 2
