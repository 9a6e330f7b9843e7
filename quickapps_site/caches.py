"""Provides the cache that all processes share in Redis, with a fallback in each process."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache, RedisCacheClient

from apps import redis_clients

logger = logging.getLogger(__name__)

AWAY_SECONDS = 5.0
"""After a failed call, a process does not call Redis for this many seconds, so that requests do not
wait for timeouts.
"""
retry_at = 0.0


def or_local(name: str) -> Callable[..., Any]:
    """Return a method that runs the operation `name` of Django's cache in Redis or, while Redis is
    down, in this process's memory.
    """

    def operation(self: RedisOrLocalCache, *args: Any, **options: Any) -> Any:
        global retry_at
        if time.monotonic() >= retry_at:
            try:
                return getattr(RedisCache, name)(self, *args, **options)
            except redis_clients.FAILURES as error:
                retry_at = time.monotonic() + AWAY_SECONDS
                logger.warning(
                    "Redis is unavailable, so this process uses its own cache: %s", error
                )
        return getattr(self.local, name)(*args, **options)

    return operation


class ProcessClient(RedisCacheClient):
    """Django's cache client, on top of the Redis client that all threads share."""

    def get_client(self, key: object = None, *, write: bool = False) -> Any:
        return redis_clients.blocking_client()


class RedisOrLocalCache(RedisCache):
    """A cache in Redis. While Redis is down, each process uses its own memory, so that limits such
    as the one on failed sign-ins still apply.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params | {"OPTIONS": {}})
        self._class = ProcessClient
        self.local = LocMemCache("while Redis is unavailable", params)

    # Each key has its own command, because all keys in a command must be in the same slot of a
    # cluster.
    get_many = BaseCache.get_many
    set_many = BaseCache.set_many
    delete_many = BaseCache.delete_many

    add = or_local("add")
    get = or_local("get")
    set = or_local("set")
    touch = or_local("touch")
    delete = or_local("delete")
    has_key = or_local("has_key")
    incr = or_local("incr")
    clear = or_local("clear")
