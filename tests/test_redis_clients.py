"""Redis with TLS, a Sentinel set and a cluster serve everything that processes share."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import redis

from apps import redis_clients
from apps.errors import RateLimitReached, TooManyRuns
from apps.live.limits import shared_slots
from apps.live.limits.quotas import Rate
from apps.live.limits.rate_counts import RateCounts
from apps.live.limits.shared_slots import Limit, SharedSlots
from apps.process_state import reset
from apps.workspace.local.deployments import fallbacks, shared_breakers
from apps.workspace.local.deployments.shared_breakers import SharedBreakers
from quickapps_site import caches
from quickapps_site.caches import RedisOrLocalCache
from quickapps_site.channel_layer import RedisChannelLayer
from tests.servers.redis import (
    NO_RETRY,
    serve,
    serve_cluster,
    serve_sentinel_set,
    serve_with_tls,
)
from tests.sites.serving import free_port

pytestmark = pytest.mark.full

PATIENCE = 60.0
GROUP = "stream-1"


@pytest.fixture(scope="module", params=["tls", "sentinel", "cluster"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "tls":
        with serve_with_tls(folder) as address:
            yield address
    elif request.param == "sentinel":
        with serve_sentinel_set(folder) as sentinels:
            yield sentinels.url
    else:
        with serve_cluster(folder) as cluster:
            yield cluster.url


@pytest.fixture
def redis_url(url: str, settings: Any) -> str:
    settings.REDIS_URL = url
    return url


@pytest.fixture(autouse=True)
def a_busy_machine_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_clients, "ANSWER_SECONDS", 10.0)
    monkeypatch.setattr(caches, "retry_at", 0.0)
    for module in (caches, shared_slots, shared_breakers):
        monkeypatch.setattr(module, "AWAY_SECONDS", 0.0)


@pytest.mark.usefixtures("redis_url")
async def test_what_one_process_announces_reaches_the_others():
    here, there = RedisChannelLayer(), RedisChannelLayer()
    channel, other = await there.new_channel(), await there.new_channel()
    await there.group_add(GROUP, channel)

    await here.group_send(GROUP, {"type": "stream.grew"})
    await here.send(other, {"type": "readiness"})
    heard = [await heard_on(there, name) for name in (channel, other)]
    await here.flush()
    await there.flush()

    assert heard == [{"type": "stream.grew"}, {"type": "readiness"}]


async def heard_on(layer: RedisChannelLayer, channel: str) -> Any:
    async with asyncio.timeout(PATIENCE):
        return await layer.receive(channel)


@pytest.mark.usefixtures("redis_url")
def test_every_operation_of_the_cache_is_shared():
    here, there = RedisOrLocalCache("", {}), RedisOrLocalCache("", {})
    names = {name: uuid4().hex for name in "abc"}

    here.set_many({names["a"]: 1, names["b"]: [2]})
    found = there.get_many(names.values())
    counted = (there.incr(names["a"]), here.add(names["a"], 7), there.touch(names["b"]))
    here.delete_many(names.values())

    assert found == {names["a"]: 1, names["b"]: [2]}
    assert counted == (2, False, True)
    assert [there.has_key(name) for name in names.values()] == [False] * 3
    assert here.local.get_many(names.values()) == {}


@pytest.mark.usefixtures("redis_url")
async def test_slots_of_several_limits_are_taken_together_and_renewed():
    limits = [Limit(uuid4().hex, 1, "caller"), Limit(uuid4().hex, 2, "application")]
    here, there = SharedSlots(), SharedSlots()

    await here.acquire("a", limits)
    with pytest.raises(TooManyRuns):
        await there.acquire("b", limits)
    await here.renew()
    here.release("a", limits)
    await asyncio.wait(here.tasks - {here.renewer}, timeout=PATIENCE)
    await there.acquire("c", limits)
    there.release("c", limits)
    await here.aclose()
    await there.aclose()

    assert (here.retry_at, there.retry_at) == (0.0, 0.0)


@pytest.mark.usefixtures("redis_url")
async def test_many_commands_at_once_wait_for_each_other():
    limits = [Limit(uuid4().hex, 5, "application")]
    slots = SharedSlots()

    taken = await asyncio.gather(
        *(slots.acquire(str(number), limits) for number in range(200)), return_exceptions=True
    )
    await slots.aclose()

    assert [type(one) for one in taken].count(TooManyRuns) == 195
    assert slots.retry_at == 0.0


@pytest.mark.usefixtures("redis_url")
async def test_rates_are_counted_over_processes():
    rate = Rate("requests", "caller", uuid4().hex, 2)
    here, there = RateCounts(), RateCounts()

    await here.admit([rate])
    await there.admit([rate])
    with pytest.raises(RateLimitReached):
        await here.admit([rate])
    await here.aclose()
    await there.aclose()

    assert (here.retry_at, there.retry_at) == (0.0, 0.0)


@pytest.mark.usefixtures("redis_url")
async def test_breakers_open_and_close_for_all_processes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fallbacks, "FAILURES", 2)
    monkeypatch.setattr(shared_breakers, "READ_SECONDS", 0.0)
    key = uuid4().hex
    here, there = SharedBreakers(), SharedBreakers()

    failed = [await here.failed(key), await there.failed(key)]
    is_admitted = await here.admits(key)
    await there.close(key)
    is_admitted_again = await here.admits(key)
    await here.aclose()
    await there.aclose()

    assert (failed, is_admitted, is_admitted_again) == ([False, True], False, True)
    assert (here.retry_at, there.retry_at) == (0.0, 0.0)


async def hear(here: RedisChannelLayer, there: RedisChannelLayer, channel: str) -> None:
    """Publish until a message arrives, because messages during a failover are lost."""
    async with asyncio.timeout(PATIENCE):
        heard = asyncio.create_task(there.receive(channel))
        while not heard.done():
            with suppress(*redis_clients.FAILURES):
                await here.group_send(GROUP, {"type": "stream.grew"})
            await asyncio.wait([heard], timeout=0.2)


async def count_of(slots: SharedSlots) -> int:
    with suppress(*redis_clients.FAILURES):
        return int(await slots.redis.zcard("{quickapps-places}:shop"))
    return 0


async def test_listeners_and_counts_follow_a_failover(tmp_path: Path, settings: Any):
    with serve_sentinel_set(tmp_path) as sentinels:
        settings.REDIS_URL = sentinels.url
        here, there, cache = RedisChannelLayer(), RedisChannelLayer(), RedisOrLocalCache("", {})
        channel, slots = await there.new_channel(), SharedSlots()
        await there.group_add(GROUP, channel)
        await hear(here, there, channel)
        await slots.acquire("a", [Limit("shop", 5, "application")])
        cache.set("a", 1)

        sentinels.master.kill()
        sentinels.master.wait()
        await hear(here, there, channel)
        async with asyncio.timeout(PATIENCE):
            while not (await cache.aget("b") == 2 and cache.local.get("b") is None):
                cache.local.clear()
                await cache.aset("b", 2)
            while await count_of(slots) < 2:
                await slots.acquire(uuid4().hex, [Limit("shop", 5, "application")])
        await slots.aclose()
        await here.flush()
        await there.flush()
        reset()


async def test_listeners_move_to_a_node_of_the_cluster_that_answers(tmp_path: Path, settings: Any):
    with serve_cluster(tmp_path) as cluster:
        settings.REDIS_URL = cluster.url
        here, there = RedisChannelLayer(), RedisChannelLayer()
        channel = await there.new_channel()
        await there.group_add(GROUP, channel)
        await hear(here, there, channel)

        for master in cluster.masters[:2]:
            master.kill()
            master.wait()
            await hear(here, there, channel)
        await here.flush()
        await there.flush()


async def test_a_password_from_a_file_is_rotated_without_a_restart(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch, caplog: Any
):
    port = free_port()
    file = tmp_path / "redis_url"
    monkeypatch.setenv("REDIS_URL_FILE", str(file))
    settings.REDIS_URL = f"redis://:0ld@127.0.0.1:{port}/0"
    file.write_text(settings.REDIS_URL)
    with (
        serve(tmp_path, port, "--requirepass", "0ld"),
        redis.Redis(port=port, password="0ld", retry=NO_RETRY) as operator,
        caplog.at_level(logging.DEBUG),
    ):
        cache, slots = RedisOrLocalCache("", {}), SharedSlots()
        cache.set("a", 1)
        await slots.redis.ping()

        operator.config_set("requirepass", "n3w")
        file.write_text(f"redis://:n3w@127.0.0.1:{port}/0")
        operator.execute_command("CLIENT KILL TYPE normal SKIPME yes")
        found = cache.get("a"), await slots.redis.ping()
        file.write_text("nonsense")
        operator.execute_command("CLIENT KILL TYPE normal SKIPME yes")
        found_again = cache.get("a"), await slots.redis.ping()
        await slots.aclose()
        reset()

    assert (found, found_again) == ((1, True), (1, True))
    assert "REDIS_URL_FILE cannot be parsed" in caplog.text
    assert ("0ld" in caplog.text, "n3w" in caplog.text) == (False, False)


def test_a_server_whose_authority_is_unknown_is_not_used(
    tmp_path: Path, settings: Any, caplog: Any
):
    with serve_with_tls(tmp_path) as address:
        settings.REDIS_URL = address.partition("?")[0]

        RedisOrLocalCache("", {}).set("a", 1)
        reset()

    assert "certificate verify failed" in caplog.text
    assert "p@ss" not in caplog.text
