"""Collections that this process has read, for as long as their storage says that they are current."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock

from django.conf import settings

from apps.workspace.memories.port import Collection

BYTES_OF_A_MEMORY = 500
"""Beside its text and its vector: an estimate, for the objects that it is made of."""


class CollectionCache:
    """The collections that were used last, each with the version (or ETag) that it was read with."""

    def __init__(self) -> None:
        self.found: OrderedDict[Hashable, tuple[object, Collection, int]] = OrderedDict()
        self.bytes = 0
        self.lock = Lock()

    def get(self, key: Hashable) -> tuple[object, Collection] | None:
        with self.lock:
            if key not in self.found:
                return None
            self.found.move_to_end(key)
            version, collection, _ = self.found[key]
            return version, collection

    def put(self, key: Hashable, version: object, collection: Collection) -> None:
        size = size_of(collection)
        with self.lock:
            self.remove(key)
            if size > settings.MEMORY_CACHE_MAX_BYTES:
                return
            self.found[key] = version, collection, size
            self.bytes += size
            while self.bytes > settings.MEMORY_CACHE_MAX_BYTES:
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


def size_of(collection: Collection) -> int:
    objects = BYTES_OF_A_MEMORY * len(collection.memories)
    return int(collection.vectors.nbytes) + collection.characters + objects


CACHE = CollectionCache()
"""Of this process."""
