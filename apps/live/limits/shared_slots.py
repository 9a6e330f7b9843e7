"""Counts the runs of API clients across all processes, in Redis.

A slot is a member of a sorted set whose score is its expiry time. The process that holds it renews
it, so the slots of a dead process soon expire.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from apps import redis_clients
from apps.errors import TooManyRuns
from apps.process_state import loop_object

logger = logging.getLogger(__name__)

LEASE_SECONDS = 30.0
AWAY_SECONDS = 5.0
"""After a failure, a process does not call Redis for this many seconds, so that requests do not
wait for timeouts.
"""
KEY = "{quickapps-places}:"
"""The prefix of the Redis keys. The braces put all keys on one node of a cluster, as the script
requires.
"""

NOW = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
"""
# Arguments: the slot's ID, the lease in milliseconds, and the limits. Returns the number of the
# first limit that is reached, or 0.
ACQUIRE = f"""{NOW}
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
# Arguments: the lease in milliseconds, and the slots' IDs. XX updates only existing slots, so that
# released slots are not added again.
RENEW = f"""{NOW}
for number = 2, #ARGV do redis.call('ZADD', KEYS[1], 'XX', now + ARGV[1], ARGV[number]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
"""


@dataclass(frozen=True, slots=True)
class Limit:
    """Allows up to `most` concurrent runs for `name` in all processes. `refusal` is the error
    message for further runs.
    """

    name: str
    most: int
    refusal: str


@asynccontextmanager
async def hold_slot(limits: Sequence[Limit]) -> AsyncIterator[None]:
    """Hold a slot for each limit during the block. Raises `TooManyRuns` if a limit is reached."""
    slots = loop_object(SharedSlots, SharedSlots)
    id = uuid4().hex
    try:
        await slots.acquire(id, limits)
        yield
    finally:
        slots.release(id, limits)


class SharedSlots:
    """The slots that this process holds in Redis. While Redis is down, no run is rejected."""

    def __init__(self) -> None:
        self.redis = redis_clients.open_client()
        self.script = self.redis.register_script(ACQUIRE)
        self.renewal = self.redis.register_script(RENEW)
        self.held: dict[str, set[str]] = {}
        """The IDs of the slots that this process holds, by Redis key."""
        self.retry_at = 0.0
        self.tasks: set[asyncio.Task[None]] = set()
        self.renewer: asyncio.Task[None] | None = None

    async def acquire(self, id: str, limits: Sequence[Limit]) -> None:
        """Acquire a slot for each limit. Raises `TooManyRuns` if a limit is reached."""
        if time.monotonic() < self.retry_at:
            return
        keys, most = keys_of(limits), [limit.most for limit in limits]
        for key in keys:  # Registered first, so that a canceled caller finds and removes it.
            self.held.setdefault(key, set()).add(id)
        try:
            reached = await self.script(keys=keys, args=[id, int(LEASE_SECONDS * 1000), *most])
        except redis_clients.FAILURES as error:
            self.note_absence(error)
            return
        if reached:
            self.forget(id, limits)
            raise TooManyRuns(limits[reached - 1].refusal)
        if self.renewer is None:
            self.renewer = self.start(self.renew_repeatedly())

    def release(self, id: str, limits: Sequence[Limit]) -> None:
        """Release the slots with this ID, in the background."""
        keys = self.forget(id, limits)
        if keys and time.monotonic() >= self.retry_at:
            self.start(self.remove(id, keys))

    def forget(self, id: str, limits: Sequence[Limit]) -> list[str]:
        """Remove the slot ID from `held`. Return the Redis keys under which it was stored."""
        keys = [key for key in keys_of(limits) if id in self.held.get(key, ())]
        for key in keys:
            self.held[key].discard(id)
            if not self.held[key]:
                del self.held[key]
        return keys

    async def remove(self, id: str, keys: Sequence[str]) -> None:
        try:
            for key in keys:
                await self.redis.zrem(key, id)
        except redis_clients.FAILURES as error:
            self.note_absence(error)

    async def renew_repeatedly(self) -> None:
        """Renew the slots of this process while it holds any."""
        try:
            while self.held:
                await asyncio.sleep(LEASE_SECONDS / 3)
                await self.renew()
        finally:
            self.renewer = None

    async def renew(self) -> None:
        try:
            for key, ids in [*self.held.items()]:
                await self.renewal(keys=[key], args=[int(LEASE_SECONDS * 1000), *ids])
        except redis_clients.FAILURES as error:
            self.note_absence(error)

    def note_absence(self, error: Exception) -> None:
        self.retry_at = time.monotonic() + AWAY_SECONDS
        logger.warning("Redis is unavailable, so each process counts its own requests: %s", error)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def aclose(self) -> None:
        if self.renewer is not None:
            self.renewer.cancel()
        if self.tasks:
            await asyncio.wait(self.tasks)
        await self.redis.aclose()


def keys_of(limits: Sequence[Limit]) -> list[str]:
    return [KEY + limit.name for limit in limits]
