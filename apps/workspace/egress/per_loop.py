"""Objects that live as long as their event loop: made at first use, closed when the loop ends.

Connections belong to the loop that opened them, and a loop tells nobody that it ends, except its
open asynchronous generators: each store is kept by one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Hashable
from contextlib import suppress
from typing import Any, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary


class Closable(Protocol):
    async def aclose(self) -> None: ...


T = TypeVar("T", bound=Closable)
Things = dict[Hashable, Any]

_stores: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[Things, AsyncGenerator[None, None]]]
_stores = WeakKeyDictionary()


def shared(key: Hashable, make: Callable[[], T]) -> T:
    """The thing of that key on the running loop."""
    loop = asyncio.get_running_loop()
    store = _stores.get(loop)
    if store is None:
        store = _stores[loop] = open_store()
    things = store[0]
    if key not in things:
        things[key] = make()
    return cast(T, things[key])


def forget(key: Hashable) -> None:
    """Take the thing of that key out of the running loop's store; the caller closes it."""
    store = _stores.get(asyncio.get_running_loop())
    if store is not None:
        store[0].pop(key, None)


async def close() -> None:
    """Close everything of the running loop, which is about to end without saying so."""
    store = _stores.pop(asyncio.get_running_loop(), None)
    if store is not None:
        await store[1].aclose()


def open_store() -> tuple[Things, AsyncGenerator[None, None]]:
    things: Things = {}
    keeper = keep(things)
    with suppress(StopIteration):
        keeper.__anext__().send(None)  # now the loop knows of it
    return things, keeper


async def keep(things: Things) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        while things:
            await things.popitem()[1].aclose()
