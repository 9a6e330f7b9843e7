"""The cache of several processes, which one process goes on without."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

AWAY_SECONDS = 5.0
"""How long Redis is left alone after it did not answer, so that not every request waits for it."""
asked_again_at = 0.0


def or_local(name: str) -> Callable[..., Any]:
    """The operation of that name: Redis's, or while Redis is away the same of this process."""

    def operation(self: RedisOrLocalCache, *args: Any, **options: Any) -> Any:
        global asked_again_at
        if time.monotonic() >= asked_again_at:
            try:
                return getattr(RedisCache, name)(self, *args, **options)
            except RedisError as error:
                asked_again_at = time.monotonic() + AWAY_SECONDS
                logger.warning("Redis is away, so the cache is this process's own: %s", error)
        return getattr(self.local, name)(*args, **options)

    return operation


class RedisOrLocalCache(RedisCache):
    """What is counted, such as failed sign-ins, stays limited, and nothing fails for want of Redis."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        options = dict(params.get("OPTIONS", {}))
        entries = {"MAX_ENTRIES": options.pop("MAX_ENTRIES", None)}
        super().__init__(server, params | {"OPTIONS": options})
        self.local = LocMemCache("while Redis is away", params | {"OPTIONS": entries})

    add = or_local("add")
    get = or_local("get")
    set = or_local("set")
    touch = or_local("touch")
    delete = or_local("delete")
    get_many = or_local("get_many")
    has_key = or_local("has_key")
    incr = or_local("incr")
    set_many = or_local("set_many")
    delete_many = or_local("delete_many")
    clear = or_local("clear")
