"""The places for runs of the gateway that all processes share, counted in Redis.

A place is a member of a sorted set, and its score the time until which it is held. The process that
holds it moves that on; when it dies, its places are free a little later.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any
from uuid import uuid4

from django.conf import settings
from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import RedisError

from apps.errors import TooManyRuns
from apps.live.places import Limit
from apps.workspace.egress.per_loop import shared

logger = logging.getLogger(__name__)

LEASE_SECONDS = 30.0
AWAY_SECONDS = 5.0
"""How long Redis is left alone after it did not answer, so that not every request waits for it."""
ANSWER_SECONDS = 1.0
MOST_CONNECTIONS = 20
WAIT_SECONDS = 5.0
"""For one of the connections, when more requests come at once. Each is used for about a millisecond."""
KEY = "{quickapps-places}:"
"""The braces keep the keys on one machine of a cluster, which the script needs."""

# Its arguments are the id, the milliseconds of a lease, and the limits. It returns the number of
# the first limit that is reached, 0 for none.
TAKE = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for number, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  if redis.call('ZCARD', key) >= tonumber(ARGV[number + 2]) then return number end
end
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', key, ARGV[2])
end
return 0
"""


@asynccontextmanager
async def hold(limits: Sequence[Limit]) -> AsyncIterator[None]:
    """Hold a place under each limit. Raises `TooManyRuns`."""
    places = shared(SharedPlaces, SharedPlaces)
    id = uuid4().hex
    try:
        await places.take(id, limits)
        yield
    finally:
        places.leave(id, limits)


class SharedPlaces:
    """The places of this process. Without Redis nothing is refused here."""

    def __init__(self) -> None:
        pool = BlockingConnectionPool.from_url(
            settings.REDIS_URL,
            max_connections=MOST_CONNECTIONS,
            timeout=WAIT_SECONDS,
            socket_connect_timeout=ANSWER_SECONDS,
            socket_timeout=ANSWER_SECONDS,
        )
        self.redis = Redis.from_pool(pool)
        self.script = self.redis.register_script(TAKE)
        self.held: dict[str, set[str]] = {}
        """By key."""
        self.asked_again_at = 0.0
        self.tasks: set[asyncio.Task[None]] = set()
        self.keeper: asyncio.Task[None] | None = None

    async def take(self, id: str, limits: Sequence[Limit]) -> None:
        """Raises `TooManyRuns`."""
        if time.monotonic() < self.asked_again_at:
            return
        keys, most = keys_of(limits), [limit.most for limit in limits]
        for key in keys:  # before Redis knows: whoever is cancelled meanwhile leaves it again
            self.held.setdefault(key, set()).add(id)
        try:
            reached = await self.script(keys=keys, args=[id, int(LEASE_SECONDS * 1000), *most])
        except (RedisError, OSError) as error:
            self.note_absence(error)
            return
        if reached:
            self.forget(id, limits)
            raise TooManyRuns(limits[reached - 1].refusal)
        if self.keeper is None:
            self.keeper = self.start(self.keep())

    def leave(self, id: str, limits: Sequence[Limit]) -> None:
        """Give the places back, in a moment."""
        keys = self.forget(id, limits)
        if keys and time.monotonic() >= self.asked_again_at:
            self.start(self.remove(id, keys))

    def forget(self, id: str, limits: Sequence[Limit]) -> list[str]:
        """The keys under which the id was held."""
        keys = [key for key in keys_of(limits) if id in self.held.get(key, ())]
        for key in keys:
            self.held[key].discard(id)
            if not self.held[key]:
                del self.held[key]
        return keys

    async def remove(self, id: str, keys: Sequence[str]) -> None:
        await self.send([("ZREM", key, id) for key in keys])

    async def keep(self) -> None:
        """Move the ends of all places on, as long as there are any."""
        try:
            while self.held:
                await asyncio.sleep(LEASE_SECONDS / 3)
                await self.renew()
        finally:
            self.keeper = None

    async def renew(self) -> None:
        with suppress(RedisError, OSError):
            seconds, _ = await self.redis.time()
            until = int((seconds + LEASE_SECONDS) * 1000)
            lease = int(LEASE_SECONDS * 1000)
            commands: list[tuple[Any, ...]] = []
            for key, ids in self.held.items():
                ends = [part for id in ids for part in (until, id)]
                # XX: one that was left in this moment does not come back.
                commands += [("ZADD", key, "XX", *ends), ("PEXPIRE", key, lease)]
            await self.send(commands)

    async def send(self, commands: Sequence[tuple[Any, ...]]) -> None:
        try:
            async with self.redis.pipeline(transaction=False) as pipeline:
                for command in commands:
                    pipeline.execute_command(*command)
                await pipeline.execute()
        except (RedisError, OSError) as error:
            self.note_absence(error)

    def note_absence(self, error: Exception) -> None:
        self.asked_again_at = time.monotonic() + AWAY_SECONDS
        logger.warning("Redis is away, so each process counts its own requests: %s", error)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def aclose(self) -> None:
        if self.keeper is not None:
            self.keeper.cancel()
        if self.tasks:
            await asyncio.wait(self.tasks)
        await self.redis.aclose()


def keys_of(limits: Sequence[Limit]) -> list[str]:
    return [KEY + limit.name for limit in limits]
