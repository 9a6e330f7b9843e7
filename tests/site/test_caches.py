"""The cache is in Redis, and in the process while Redis is down."""

from __future__ import annotations

import logging
import socket
import time

import pytest
from django.conf import settings as site_settings

from quickapps_site import caches
from quickapps_site.caches import RedisOrLocalCache
from tests.servers.redis import redis_at
from tests.sites.serving import free_port

LONGEST = 30.0


@pytest.fixture(autouse=True)
def redis_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry Redis immediately, and restore the address that `cache_at` changes."""
    monkeypatch.setattr(site_settings, "REDIS_URL", site_settings.REDIS_URL)
    monkeypatch.setattr(caches, "retry_at", 0.0)
    monkeypatch.setattr(caches, "AWAY_SECONDS", 0.0)


def cache_at(port: int) -> RedisOrLocalCache:
    site_settings.REDIS_URL = f"redis://127.0.0.1:{port}/0"
    made = RedisOrLocalCache("", {"OPTIONS": {"MAX_ENTRIES": 50}})
    made.local.clear()
    return made


def test_processes_share_what_redis_keeps(tmp_path):
    port = free_port()
    with redis_at(port, tmp_path):
        one, other = cache_at(port), cache_at(port)

        one.set("tries", [1, 2])

        assert other.get("tries") == [1, 2]
        assert other.local.get("tries") is None
        assert (one.add("tries", []), one.delete("tries"), one.has_key("tries")) == (
            False,
            True,
            False,
        )


def test_every_operation_goes_on_while_redis_is_away(caplog):
    cache = cache_at(free_port())

    with caplog.at_level(logging.WARNING):
        assert (cache.add("a", 1), cache.add("a", 2), cache.incr("a")) == (True, False, 2)
    cache.set_many({"b": 2, "c": 3})

    assert cache.get_many(["a", "b", "x"]) == {"a": 2, "b": 2}
    assert (cache.touch("b"), cache.delete("b"), "b" in cache, "c" in cache) == (
        True,
        True,
        False,
        True,
    )
    cache.delete_many(["c"])
    assert cache.get("c", "gone") == "gone"
    cache.clear()
    assert cache.get("a") is None
    assert "Redis is unavailable, so this process uses its own cache: " in caplog.messages[0]


def test_a_redis_that_comes_back_is_used_again(tmp_path):
    port = free_port()
    cache = cache_at(port)
    with redis_at(port, tmp_path):
        cache.set("keeper", "redis")
    cache.set("keeper", "process")
    away = cache.get("keeper")
    with redis_at(port, tmp_path):
        cache.set("keeper", "redis again")
        back = cache.get("keeper")

    assert (away, back, cache.local.get("keeper")) == ("process", "redis again", "process")


def test_a_redis_that_hangs_is_waited_for_once(monkeypatch):
    monkeypatch.setattr(caches, "AWAY_SECONDS", 3600.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        cache = cache_at(silent.getsockname()[1])

        started = time.monotonic()
        cache.set("a", 1)
        first = time.monotonic() - started
        for _ in range(1000):
            assert cache.get("a") == 1

    assert first > 0.9
    assert time.monotonic() - started < LONGEST  # a second for each would be a quarter of an hour
