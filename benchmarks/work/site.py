"""Count the work of the site in this process, and print it as JSON. `benchmarks.work` starts this
module.

    python -m benchmarks.work.site PORT_OF_THE_MODEL KEY DOOR…
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from asgiref.sync import sync_to_async
from uvicorn.server import ServerState

from benchmarks.work.counting import PER_UNIT, CountingLoop, Work, WorkCounter
from benchmarks.work.doors import DOORS, PAGE_DOOR, TOOL, Door, PageDoor
from benchmarks.work.exchange import Exchange, SteppedUpstream
from benchmarks.work.page import TICK_SECONDS, PageExchange, session_cookie, stored_rows

REPEATS = 5
"""The minimum of this many requests counts, because other work of the process only adds to a
request."""
TOKENS = 10
"""A chunk is a tenth of the difference between a long and a short answer."""
HELD = (4, 24)
"""Numbers of held streams. The difference of their memory is that of one stream."""


def main() -> None:
    port, key, *names = sys.argv[1:]
    loop = CountingLoop()
    loop.counter = WorkCounter()
    asyncio.set_event_loop(loop)
    doors = [door for door in (*DOORS, PAGE_DOOR) if door.name in names]
    found = loop.run_until_complete(count_all(loop.counter, int(port), key, doors))
    print(json.dumps(found))


async def count_all(
    counter: WorkCounter, port: int, key: str, doors: Sequence[Door]
) -> dict[str, Any]:
    from django.conf import settings
    from django.db.backends.signals import connection_created

    from quickapps_site.asgi import application
    from quickapps_site.server.graceful_server import make_config

    from apps.live.history import summary_writer  # isort: skip - needs an initialized Django

    def watch(connection: Any, **_: object) -> None:
        if counter.count_statement not in connection.execute_wrappers:
            connection.execute_wrappers.append(counter.count_statement)

    connection_created.connect(watch, weak=False)
    loop = asyncio.get_running_loop()
    config = make_config(application)
    config.load()
    state = ServerState()
    serve: Callable[[], Any] = partial(
        config.http_protocol_class, config=config, server_state=state, app_state={}
    )
    site = await loop.create_server(serve, "127.0.0.1", 0)
    exchanges: list[Exchange | PageExchange] = []
    model = await loop.create_server(
        lambda: SteppedUpstream(counter, lambda: exchanges[-1]), "127.0.0.1", port
    )

    async def connect() -> Exchange:
        address = site.sockets[0].getsockname()
        _, exchange = await loop.create_connection(lambda: Exchange(counter), *address)
        exchanges.append(exchange)
        return exchange

    async def open_tab() -> PageExchange:
        tab = PageExchange(counter, application, await sync_to_async(session_cookie)())
        await tab.is_accepted.wait()
        exchanges.append(tab)
        return tab

    if settings.REDIS_URL:
        counter.count_commands()
    found = {}
    for door in doors:
        exchanges[:] = []
        client: Any = connect
        if isinstance(door, PageDoor):
            client, summary_writer.TICK_SECONDS = open_tab, TICK_SECONDS
        found[door.name] = await count_door(counter, door, key, client)
    model.close()
    site.close()
    return found


async def count_door(counter: WorkCounter, door: Door, key: str, connect: Any) -> dict[str, Any]:
    exchange = await connect()
    for tool in ("", TOOL, "", TOOL):  # fills caches, and loads modules that are imported on use
        await exchange.ask(door.request(key, 2, tool))
    stop_clock()
    short = await least_work(counter, exchange, door.request(key, 1))
    long = await least_work(counter, exchange, door.request(key, 1 + TOKENS))
    with_tool = await least_work(counter, exchange, door.request(key, 1, TOOL))
    if isinstance(door, PageDoor):
        short.rows = await added_rows(exchange, door.request(key, 1))
        long.rows = await added_rows(exchange, door.request(key, 1 + TOKENS))
        with_tool.rows = await added_rows(exchange, door.request(key, 1, TOOL))
    return {
        "request": short.to_dict(),
        "tool turn": difference(with_tool, short).to_dict(),
        "chunk": share(difference(long, short), TOKENS),
        "held": await held_bytes(door.request(key, 3), connect),
    }


def stop_clock() -> None:
    """Stop the clock, so that caches do not expire and measured times do not vary."""
    now = time.monotonic()
    time.monotonic = lambda: now


async def added_rows(exchange: Exchange | PageExchange, request: bytes) -> int:
    before = await sync_to_async(stored_rows)()
    await exchange.ask(request)
    return await sync_to_async(stored_rows)() - before


async def least_work(
    counter: WorkCounter, exchange: Exchange | PageExchange, request: bytes
) -> Work:
    works = []
    gc.collect()
    gc.disable()
    for _ in range(REPEATS):
        counter.begin()
        await exchange.ask(request)
        works.append(counter.end())
    gc.enable()
    return min(works, key=lambda work: work.calls)


def difference(more: Work, less: Work) -> Work:
    modules = Counter(more.modules)
    modules.subtract(less.modules)
    counts = {name: getattr(more, name) - getattr(less, name) for name in PER_UNIT[1:]}
    return Work(Counter({name: n for name, n in modules.items() if n}), **counts)


def share(work: Work, of: int) -> dict[str, Any]:
    counts = work.to_dict()
    modules = {name: calls / of for name, calls in counts.pop("modules").items()}
    return {**{name: count / of for name, count in counts.items()}, "modules": modules}


async def held_bytes(request: bytes, connect: Any) -> int:
    """Return the bytes that Python allocates for one stream that waits for its third token."""
    tracemalloc.start()
    sizes, streams = [], []
    for number in HELD:
        while len(streams) < number:
            exchange = await connect()
            await exchange.ask(request, holds_at=2)
            streams.append(exchange)
        await asyncio.sleep(0.1)
        gc.collect()
        own = tracemalloc.Filter(False, "*/benchmarks/*")
        snapshot = tracemalloc.take_snapshot().filter_traces([own])
        sizes.append(sum(one.size for one in snapshot.traces))
    tracemalloc.stop()
    for exchange in streams:
        exchange.close()
    await asyncio.sleep(0.1)
    return round((sizes[1] - sizes[0]) / (HELD[1] - HELD[0]))


if __name__ == "__main__":
    main()
