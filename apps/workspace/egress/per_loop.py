"""Creates objects once per event loop, on first use, and closes them when the loop ends.

Connections belong to the loop that opened them. When a loop ends, it closes only its open
asynchronous generators. An asynchronous generator therefore owns each loop's store of objects.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Hashable
from contextlib import suppress
from typing import Any, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary


class Closable(Protocol):
    async def aclose(self) -> None: ...


T = TypeVar("T", bound=Closable)
Objects = dict[Hashable, Any]

_stores: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[Objects, AsyncGenerator[None, None]]]
_stores = WeakKeyDictionary()


def loop_object(key: Hashable, make: Callable[[], T]) -> T:
    """Return the running loop's object with this key. If there is none, create it with `make`."""
    loop = asyncio.get_running_loop()
    store = _stores.get(loop)
    if store is None:
        store = _stores[loop] = open_store()
    objects = store[0]
    if key not in objects:
        objects[key] = make()
    return cast(T, objects[key])


def forget_object(key: Hashable) -> None:
    """Remove an object from the running loop's store. The caller must close the object."""
    store = _stores.get(asyncio.get_running_loop())
    if store is not None:
        store[0].pop(key, None)


async def close() -> None:
    """Close all objects of the running loop. Call this in a loop that ends without closing its
    asynchronous generators.
    """
    store = _stores.pop(asyncio.get_running_loop(), None)
    if store is not None:
        await store[1].aclose()


def open_store() -> tuple[Objects, AsyncGenerator[None, None]]:
    objects: Objects = {}
    keeper = store_objects(objects)
    with suppress(StopIteration):
        keeper.__anext__().send(None)  # The loop registers a generator when it first runs.
    return objects, keeper


async def store_objects(objects: Objects) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        while objects:
            await objects.popitem()[1].aclose()
