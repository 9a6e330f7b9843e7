from __future__ import annotations

from apps.accounts.caller import Caller
from apps.workspace.dial.cache import MOST_KEPT, Cache, identity


def fetching(value, seen):
    async def fetch():
        seen.append(value)
        return value

    return fetch


async def test_only_so_much_is_kept_and_what_was_used_last_stays():
    cache, seen = Cache(), list[object]()
    for number in range(MOST_KEPT):
        await cache.find(number, b"ann", fetching(number, seen), 60)
    await cache.find(0, b"ann", fetching("again", seen), 60)

    await cache.find("new", b"ann", fetching("new", seen), 60)

    assert len(cache.kept) == MOST_KEPT
    assert await cache.find(0, b"ann", fetching("again", seen), 60) == 0
    assert await cache.find(1, b"ann", fetching("again", seen), 60) == "again"


def test_an_identity_tells_credentials_apart_and_shows_none():
    callers = [
        Caller("", api_key="k1"),
        Caller("", api_key="k1", bearer="b"),
        Caller("", api_key="k1b"),
        Caller("", bearer="k1"),
        Caller(""),
    ]

    found = [identity(caller) for caller in callers]

    assert len(set(found)) == len(callers)
    assert identity(Caller("other", "key", api_key="k1", locale="de")) == found[0]
    assert not any(b"k1" in digest for digest in found)
