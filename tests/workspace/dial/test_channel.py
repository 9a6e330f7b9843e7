from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.capabilities.service import Reply, Seen, read_request
from tests.servers.closing import close_server
from tests.workspace.dial.callers import scripted, workspace

STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
HEARTBEAT = b": heartbeat\n\n"
CROWD = 300
ERROR = {"jsonrpc": "2.0", "error": {"code": -32000, "message": "Channel is not found"}}


@dataclass
class Channel:
    """A Core that asks a user. `tell` yields the pieces of its answer, which never ends. `waits` is
    the pause between the headers of an answer and the rest."""

    tell: Callable[[Any], Iterable[bytes]]
    seen: list[Seen] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    ends: bool = False
    waits: Callable[[], Awaitable[Any]] | None = None

    async def serve(self, reader, writer):
        try:
            seen = await read_request(reader)
            self.seen.append(seen)
            writer.write(STREAM)
            if self.waits is not None:
                await self.waits()
            for piece in self.tell(json.loads(seen.body)):
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)
            if not self.ends:
                await reader.read()
        except ConnectionError:
            pass
        finally:
            self.left.set()
            writer.close()


@asynccontextmanager
async def channel(settings, tell, *, ends=False, **fields):
    running = Channel(tell, ends=ends)
    server = await asyncio.start_server(running.serve, "127.0.0.1", 0, backlog=CROWD)
    settings.DIAL_URL = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield running, workspace(settings.DIAL_URL, channel="ch7", **fields)
    finally:
        await close_server(server)
        await server.wait_closed()


def event(value):
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def answers(**results):
    """Return the client's answers to a batch, the last one first."""

    def tell(batch):
        told = [
            {"jsonrpc": "2.0", "id": one["id"], **results[one["params"]["toolsetId"]]}
            for one in reversed(batch)
        ]
        return [HEARTBEAT, HEARTBEAT, event(told)]

    return tell


async def test_all_toolsets_are_asked_for_at_once_and_each_answer_finds_its_own(settings):
    tell = answers(
        good={"result": "success"},
        no={"result": "denied"},
        closed={"result": "cancelled"},
        bad={"error": {"code": -32000, "message": "secret words"}},
        empty={},
    )
    async with channel(settings, tell) as (running, own):
        found = await own.sign_in(["good", "no", "closed", "bad", "empty", "good"])
        await asyncio.wait_for(running.left.wait(), 60)

    assert found == {
        "good": "success",
        "no": "denied",
        "closed": "denied",
        "bad": "error",
        "empty": "error",
    }
    (seen,) = running.seen
    batch = json.loads(seen.body)
    assert (seen.method, seen.target) == ("POST", "/v1/ops/client-channel/interact")
    assert seen.told("api-key", "x-dial-client-channel-id") == {
        "api-key": "dial-demo-key",
        "x-dial-client-channel-id": "ch7",
    }
    assert [{**one, "id": ""} for one in batch] == [
        {"jsonrpc": "2.0", "method": "toolset/signin", "params": {"toolsetId": name}, "id": ""}
        for name in found
    ]
    assert len({one["id"] for one in batch}) == 5


async def test_a_service_is_asked_for_by_its_scope(settings):
    scope = "applications/b7/app/external_services/crm"

    def tell(batch):
        return [event([{"jsonrpc": "2.0", "id": batch[0]["id"], "result": "success"}])]

    async with channel(settings, tell) as (running, own):
        assert await own.sign_in_to_service(scope) == "success"

    (asked,) = json.loads(running.seen[0].body)
    assert (asked["method"], asked["params"]) == ("external-service/signin", {"url": scope})


async def test_an_answer_may_come_in_odd_pieces(settings):
    def tell(batch):
        told = [{"jsonrpc": "2.0", "id": batch[0]["id"], "result": "success"}]
        whole = b": heartbeat\r\n\r\n: heartbeat\r\n\r\n" + event(told).replace(b"\n", b"\r\n")
        return [whole[at : at + 7] for at in range(0, len(whole), 7)]

    async with channel(settings, tell) as (_, own):
        assert await own.sign_in(["a"]) == {"a": "success"}


async def test_an_answer_that_is_an_object_is_for_the_one_request(settings):
    def tell(batch):
        return [event({"jsonrpc": "2.0", "id": batch[0]["id"], "result": "success"})]

    async with channel(settings, tell) as (_, own):
        assert await own.sign_in(["a"]) == {"a": "success"}


@pytest.mark.parametrize(
    "pieces",
    [
        [event(ERROR)],
        [event([])],
        [event([{"id": "other", "result": "success"}, 7])],
        [b"data: {\n\n"],
        [event("success")],
        [b": heartbeat\n\n" * 200_000],
    ],
)
async def test_an_answer_that_is_none_is_an_error(settings, pieces):
    async with channel(settings, lambda batch: pieces) as (_, own):
        assert await own.sign_in(["a", "b"]) == {"a": "error", "b": "error"}


async def test_an_answer_that_ends_without_a_word_is_an_error(settings):
    async with channel(settings, lambda batch: [HEARTBEAT], ends=True) as (_, own):
        assert await own.sign_in(["a"]) == {"a": "error"}


async def test_a_person_has_only_so_much_time(settings):
    async with channel(settings, lambda batch: [HEARTBEAT], sign_in_seconds=0.2) as (running, own):
        assert await own.sign_in(["a"]) == {"a": "timeout"}
        await asyncio.wait_for(running.left.wait(), 60)


async def test_however_many_people_think_at_once_nobody_waits_for_another_one(settings):
    tell = answers(a={"result": "success"})
    async with channel(settings, tell, sign_in_seconds=60.0) as (running, own):
        running.waits = asyncio.Barrier(CROWD).wait  # no answer before all questions were sent

        found = await asyncio.gather(*(own.sign_in(["a"]) for _ in range(CROWD)))

    assert found == [{"a": "success"}] * CROWD


async def test_without_a_channel_there_is_nobody_to_ask(fake):
    own = workspace(fake.url)

    assert await own.sign_in(["a", "b"]) == {"a": "unavailable", "b": "unavailable"}
    assert await own.sign_in_to_service("x") == "unavailable"
    assert await workspace(fake.url, channel="ch7").sign_in([]) == {}
    assert fake.requests == []


async def test_a_core_that_refuses_or_is_not_there_is_an_error(settings, unused_port):
    async with scripted(settings, Reply(403, b"no"), channel="ch7") as (_, own):
        assert await own.sign_in(["a"]) == {"a": "error"}
    settings.DIAL_URL = f"http://127.0.0.1:{unused_port}"
    own = workspace(settings.DIAL_URL, channel="ch7")
    assert await own.sign_in(["a"]) == {"a": "error"}
