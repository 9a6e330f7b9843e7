"""Sessions across runs and callers: what is shared, what is not, and what is reused."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

import pytest

from apps.accounts.caller import Caller
from apps.agent.events import Event
from apps.agent.tools import Invocation
from apps.capabilities.mcp.capability import mcp
from apps.capabilities.mcp.sessions import pool, slots
from tests.capabilities.manifests import (
    CALLER,
    OTHERWISE,
    manifest,
    opening_for,
    stage_text,
    use,
)
from tests.capabilities.mcp.desk import answering, named, opened_desk
from tests.capabilities.mcp.servers import (
    MISBEHAVING,
    WELL_BEHAVED,
    nothing_left_over,
    over_http,
    over_stdio,
    register,
)
from tests.capabilities.service import Reply, Seen, json_reply, serving
from tests.contract import proves


async def count(toolset: Mapping[str, Any], caller: Caller = CALLER, tool: str = "desk_act") -> str:
    async with opened_desk(toolset, caller=caller) as contribution:
        return (await use(named(contribution, tool))).content


@proves("9.2")
async def test_a_caller_finds_the_session_again_and_another_caller_gets_another(http_url):
    toolset = over_http(http_url)

    async with nothing_left_over() as sessions:
        for caller in (CALLER, CALLER, CALLER, Caller("user-8")):
            async with opened_desk(toolset, caller=caller):
                pass
        async with opened_desk({**toolset, "mcp_server_info": keyed(toolset)}):
            pass
        opened = [(bucket, slot.opened) for (_, bucket), slot in sessions.slots.items()]

    assert opened == [(CALLER.bucket, 1), ("user-8", 1), (CALLER.bucket, 1)]


def keyed(toolset: Mapping[str, Any]) -> dict[str, Any]:
    return {**toolset["mcp_server_info"], "authorization": {"type": "bearer", "token": "x"}}


async def test_somebody_without_a_name_shares_with_nobody(http_url):
    toolset, caller = over_http(http_url), Caller("")

    async with nothing_left_over() as sessions:
        async with opened_desk(toolset, caller=caller), opened_desk(toolset, caller=caller):
            opened = [slot.opened for slot in sessions.slots.values()]
        left = dict(sessions.slots)

    assert (opened, left) == ([1, 1], {})


@pytest.mark.django_db
async def test_programs_are_not_shared_between_callers():
    await register(MISBEHAVING, "counts")

    async with nothing_left_over():
        mine = [await count(over_stdio()) for _ in range(2)]
        other = await count(over_stdio(), Caller("user-8"))

    assert (mine, other) == (["1", "2"], "1")


async def test_opening_another_run_asks_the_server_nothing():
    async with nothing_left_over(), serving(answer=answering(Reply(500))) as service:
        async with opened_desk(over_http(service.url)) as first:
            asked = len(service.seen)
        async with opened_desk(over_http(service.url)) as second:
            assert len(second.tools) == len(first.tools) == 1

        assert len(service.seen) == asked


@proves("G-03")
async def test_what_is_read_of_tools_is_prepared_once_for_all_callers(http_url):
    opener = mcp.prepare(manifest(over_http(http_url)))
    assert opener is not None

    async with nothing_left_over(), AsyncExitStack() as stack:
        first = await stack.enter_async_context(opener(opening_for()))
        second = await stack.enter_async_context(opener(opening_for(Caller("user-8"))))

        assert first.tools[0].spec is second.tools[0].spec


@proves("9.2", "G-03")
async def test_many_runs_at_once_share_one_connection(http_url):
    toolset = over_http(http_url)

    async with nothing_left_over() as sessions:
        answers = await asyncio.gather(*(count(toolset, tool="desk_count") for _ in range(20)))
        (slot,) = sessions.slots.values()

    assert (len(answers), slot.opened) == (20, 1)


@proves("G-41")
@pytest.mark.django_db
async def test_a_changed_list_is_read_again():
    await register(WELL_BEHAVED, "stdio")

    async with nothing_left_over() as sessions:
        async with opened_desk(over_stdio()) as contribution:
            before = {tool.spec.name for tool in contribution.tools}
            await use(named(contribution, "desk_grow"))
            (slot,) = sessions.slots.values()
            async with asyncio.timeout(60):
                while slot.find("listing") is not None:
                    await asyncio.sleep(0.01)
        async with opened_desk(over_stdio()) as contribution:
            after = {tool.spec.name for tool in contribution.tools}

    assert after - before == {"desk_grown"}


@pytest.mark.django_db
async def test_a_list_is_believed_for_a_limited_time(monkeypatch):
    monkeypatch.setattr(slots, "CACHE_SECONDS", 0.0)

    async with nothing_left_over(), serving(answer=answering(Reply(500))) as service:
        for _ in range(2):
            async with opened_desk(over_http(service.url)):
                pass
        listed = [seen for seen in service.seen if b"tools/list" in seen.body]

    assert len(listed) == 2


async def test_a_stopped_run_stops_the_call_at_the_server(http_url):
    waiting = asyncio.Event()

    def emit(event: Event) -> None:
        if "waiting (0 of 1)" in stage_text([event]):
            waiting.set()

    async with nothing_left_over(), opened_desk(over_http(http_url)) as contribution:
        before = int((await use(named(contribution, "desk_cancelled"))).content)
        call = named(contribution, "desk_wait").call(Invocation("call-1", {}, (), emit))
        running = asyncio.ensure_future(call)
        async with asyncio.timeout(60):
            await waiting.wait()
        running.cancel()
        await asyncio.wait([running])
        async with asyncio.timeout(60):
            while int((await use(named(contribution, "desk_cancelled"))).content) == before:
                await asyncio.sleep(0.02)

    assert running.cancelled()


@pytest.mark.django_db
async def test_a_program_that_died_is_started_again_but_not_for_ever(monkeypatch):
    monkeypatch.setattr(slots, "jitter", lambda longest: longest)
    await register(MISBEHAVING, "dies")

    async with nothing_left_over() as sessions, opened_desk(over_stdio()) as contribution:
        results = [(await use(contribution.tools[0])).content for _ in range(4)]
        (slot,) = sessions.slots.values()
        assert slot.failure is not None
        opened_times, details = slot.opened, slot.failure.last_words

    assert set(results) == {f"desk_act: the server ended the connection.{OTHERWISE}"}
    assert opened_times == 2
    assert details == "I had 1 secret"


@proves("9.2")
async def test_a_server_that_fails_is_left_in_peace_for_longer_and_longer(monkeypatch):
    longest: list[float] = []

    def at_once(most: float) -> float:
        longest.append(most)
        return 0.0

    monkeypatch.setattr(slots, "jitter", at_once)

    async with nothing_left_over(), serving(Reply(500)) as service:
        for _ in range(9):
            async with opened_desk(over_http(service.url)):
                pass
        asked = len(service.seen)

    assert longest == [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]
    assert asked == 9


async def test_while_it_is_left_in_peace_the_last_failure_is_told(monkeypatch):
    monkeypatch.setattr(slots, "jitter", lambda most: most)

    async with nothing_left_over(), serving(Reply(500)) as service:
        for _ in range(5):
            async with opened_desk(over_http(service.url)) as contribution:
                assert [issue.message for issue in contribution.issues] == [
                    "HTTP error for desk: 500 Internal Server Error"
                ]
        assert len(service.seen) == 2


@proves("9.2")
async def test_idle_sessions_end_and_come_back_when_needed(http_url, monkeypatch):
    monkeypatch.setattr(pool, "IDLE_SECONDS", -1.0)
    toolset = over_http(http_url)

    async with nothing_left_over() as sessions:
        async with opened_desk(toolset):
            sessions.sweep()
            (slot,) = sessions.slots.values()
            states = [slot.state]  # a run uses it
        sessions.sweep()
        await asyncio.wait(sessions.closing)
        states.append(slot.state)
        async with opened_desk(toolset) as contribution:
            states.append(slot.state)  # the list is still cached
            await use(named(contribution, "desk_count"))
            states.append(slot.state)

    assert (states, slot.opened) == (["connected", "idle", "idle", "connected"], 2)


async def test_the_number_of_sessions_is_bounded(monkeypatch):
    monkeypatch.setattr(pool, "MOST_SESSIONS", 2)

    async with nothing_left_over() as sessions, serving(answer=answering(Reply(500))) as service:
        urls = [f"{service.url}/{number}" for number in range(3)]
        for url in urls:
            async with opened_desk(over_http(url)):
                pass
        kept = [endpoint.url for endpoint, _ in sessions.slots]
        async with opened_desk(*(over_http(url, name=url) for url in urls)) as contribution:
            (issue,) = contribution.issues

    assert kept == urls[1:]
    assert "too many servers are in use at once; try again later." in issue.message


async def test_fewer_sessions_are_kept_than_may_be_in_use(monkeypatch):
    monkeypatch.setattr(pool, "MOST_IDLE", 1)

    async with nothing_left_over() as sessions, serving(answer=answering(Reply(500))) as service:
        urls = [f"{service.url}/{number}" for number in range(3)]
        async with opened_desk(*(over_http(url, name=url) for url in urls)) as contribution:
            issues = [issue.message for issue in contribution.issues]
            used = len(sessions.slots)
        async with opened_desk(over_http(f"{service.url}/last")):
            kept = len(sessions.slots)

    assert not any("too many servers" in issue for issue in issues)
    assert (used, kept) == (3, 3)


async def test_a_token_is_fetched_and_renewed_when_it_is_refused():
    tokens = iter(("one", "two"))
    plain = answering(Reply(500))

    async def answer(seen: Seen) -> Reply:
        if seen.target == "/token":
            return json_reply(json.dumps({"access_token": next(tokens), "expires_in": 600}))
        if b"tools/list" in seen.body and seen.headers["authorization"] == "Bearer one":
            return Reply(401)
        return await plain(seen)

    async with nothing_left_over(), serving(answer=answer) as service:
        how = {"client_id": "a", "client_secret": "b", "token_url": f"{service.url}/token"}
        key = {"type": "client_id_secret", **how}
        async with opened_desk(over_http(service.url, authorization=key)) as contribution:
            assert len(contribution.tools) == 1
        used = [seen.headers.get("authorization", "")[:7] for seen in service.seen]

    assert used.count("Basic Y") == 2
