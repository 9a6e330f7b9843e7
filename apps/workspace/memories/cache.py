"""Caches memory collections until their storage reports a newer version."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock

from apps.process_state import on_reset
from apps.workspace.memories.port import MemoryList

MOST_BYTES = 64 * 1024 * 1024
"""The maximum total size of the cached memories, in bytes."""
BYTES_OF_A_MEMORY = 500
"""The approximate size in bytes of a memory's objects, in addition to its text and its vector."""


class CollectionCache:
    """Caches the most recently used collections by key, each with the version (or ETag) at which it
    was read.
    """

    def __init__(self) -> None:
        self.found: OrderedDict[Hashable, tuple[object, MemoryList, int]] = OrderedDict()
        self.bytes = 0
        self.lock = Lock()

    def get(self, key: Hashable) -> tuple[object, MemoryList] | None:
        with self.lock:
            if key not in self.found:
                return None
            self.found.move_to_end(key)
            version, collection, _ = self.found[key]
            return version, collection

    def put(self, key: Hashable, version: object, collection: MemoryList) -> None:
        size = size_of(collection)
        with self.lock:
            self.remove(key)
            if size > MOST_BYTES:
                return
            self.found[key] = version, collection, size
            self.bytes += size
            while self.bytes > MOST_BYTES:
                self.remove(next(iter(self.found)))

    def drop(self, key: Hashable) -> None:
        with self.lock:
            self.remove(key)

    def clear(self) -> None:
        with self.lock:
            self.found.clear()
            self.bytes = 0

    def remove(self, key: Hashable) -> None:
        _, _, size = self.found.pop(key, (None, None, 0))
        self.bytes -= size


def size_of(collection: MemoryList) -> int:
    objects = BYTES_OF_A_MEMORY * len(collection.memories)
    return int(collection.vectors.nbytes) + collection.characters + objects


CACHE = CollectionCache()
on_reset(CACHE.clear)
