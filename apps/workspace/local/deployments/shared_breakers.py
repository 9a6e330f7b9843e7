"""Shares deployments' circuit breakers among all processes through Redis.

One hash maps each failing deployment to the time at which it may be tried again (0 while its
breaker is closed). A process reads the hash at most once a second. The times of failures are stored
in sorted sets, one per deployment.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from apps import redis_clients
from apps.workspace.local.deployments import fallbacks
from apps.workspace.local.deployments.fallbacks import BreakerState, ProcessBreakers

logger = logging.getLogger(__name__)

READ_SECONDS = 1.0
AWAY_SECONDS = 5.0
"""The time in seconds for which Redis is not called after a failure, so that requests do not all
wait for it.
"""
KEY = "{quickapps-breakers}"
"""The key prefix of breakers. The braces place all keys on the same node of a cluster, as the
scripts require.
"""
FORGOTTEN_MS = 24 * 3600 * 1000
"""Redis deletes breakers this many milliseconds after the last failure of any deployment, because
the breakers of changed rows would otherwise never be deleted.
"""

NOW = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
"""
READ = f"{NOW} return {{now, redis.call('HGETALL', KEYS[1])}}"
# The first two keys of each script are the hash and the sorted set; the first argument is the
# breaker's key. Each script returns the number of milliseconds for which the breaker remains open.
FAIL = f"""{NOW}
local known = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
if known > 0 then return math.max(1, known - now) end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[3])
redis.call('ZADD', KEYS[2], now, ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[6])
local open = 0
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[4]) then open = tonumber(ARGV[5]) end
redis.call('HSET', KEYS[1], ARGV[1], open > 0 and string.format('%d', now + open) or '0')
return open
"""
TRY = f"""{NOW}
local known = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
if known > now then return known - now end
if known > 0 then redis.call('HSET', KEYS[1], ARGV[1], string.format('%d', now + ARGV[2])) end
return 0
"""


class SharedBreakers:
    """The breakers that all processes share; this process caches them. While Redis is down, the
    process counts failures itself.
    """

    def __init__(self) -> None:
        self.redis = redis_clients.open_client()
        self.scripts = {text: self.redis.register_script(text) for text in (READ, FAIL, TRY)}
        self.states: dict[str, BreakerState] = {}
        self.local = ProcessBreakers()
        self.read_at = 0.0
        self.retry_at = 0.0

    async def admits(self, key: str) -> bool:
        await self.read()
        state = self.states.get(key)
        if state is None or time.monotonic() < state.until:
            return state is None and await self.local.admits(key)
        if not state.until:
            return True
        # The first process to claim the breaker may try the deployment.
        wait = await self.call(TRY, key, milliseconds(fallbacks.OPEN_SECONDS))
        if wait is None:
            return await self.local.admits(key)
        state.until = time.monotonic() + (wait / 1000 or fallbacks.OPEN_SECONDS)
        return bool(wait == 0)

    async def failed(self, key: str) -> bool:
        window, seconds = fallbacks.WINDOW_SECONDS, fallbacks.OPEN_SECONDS
        times = (milliseconds(window), fallbacks.FAILURES, milliseconds(seconds))
        wait = await self.call(FAIL, key, uuid4().hex, *times, FORGOTTEN_MS)
        if wait is None:
            return await self.local.failed(key)
        self.set_state(key, wait / 1000)
        return bool(wait)

    async def succeeded(self, key: str, began: float) -> bool:
        has_closed = bool(self.local.states) and await self.local.succeeded(key, began)
        state = self.states.get(key)
        if state is None or began < state.opened_at:
            return has_closed
        await self.close(key)
        return has_closed or state.until > 0

    async def open_seconds(self) -> dict[str, float]:
        self.read_at = 0.0
        await self.read()
        now = time.monotonic()
        shared = {key: max(0.0, one.until - now) for key, one in self.states.items() if one.until}
        return {**await self.local.open_seconds(), **shared}

    async def close(self, key: str) -> None:
        await self.local.close(key)
        self.states.pop(key, None)
        if time.monotonic() < self.retry_at:
            return
        try:
            async with self.redis.pipeline() as pipeline:
                pipeline.hdel(KEY, key)
                pipeline.delete(f"{KEY}:{key}")
                await pipeline.execute()
        except redis_clients.FAILURES as error:
            self.log_outage(error)

    async def read(self) -> None:
        """Read the shared state, unless this process has read it within the last second."""
        moment = time.monotonic()
        if moment < max(self.retry_at, self.read_at + READ_SECONDS):
            return
        self.read_at = moment  # Concurrent calls use the cached state.
        found = await self.call(READ, "")
        if found is None:
            return
        now, pairs = found
        fields = zip(pairs[::2], pairs[1::2], strict=True)
        untils = {key.decode(): int(until) for key, until in fields}
        for key in self.states.keys() - untils.keys():
            del self.states[key]
        for key, until in untils.items():
            self.set_state(key, (until - now) / 1000 if until else 0.0)

    def set_state(self, key: str, seconds: float) -> None:
        """Record that the breaker is open for this many seconds; 0 means that it is closed."""
        now, state = time.monotonic(), self.states.setdefault(key, BreakerState())
        if seconds and not state.until:
            state.opened_at = now
        state.until = now + seconds if seconds else 0.0

    async def call(self, script: str, key: str, *arguments: Any) -> Any:
        """Run a script in Redis and return its result, or None while Redis is down."""
        if time.monotonic() < self.retry_at:
            return None
        keys: Sequence[str] = (KEY, f"{KEY}:{key}")
        try:
            return await self.scripts[script](keys=keys, args=[key, *arguments])
        except redis_clients.FAILURES as error:
            self.log_outage(error)
            return None

    def log_outage(self, error: Exception) -> None:
        self.retry_at = time.monotonic() + AWAY_SECONDS
        logger.warning("Redis is unavailable, so each process has its own breakers: %s", error)

    async def aclose(self) -> None:
        await self.redis.aclose()


def milliseconds(seconds: float) -> int:
    return int(seconds * 1000)
