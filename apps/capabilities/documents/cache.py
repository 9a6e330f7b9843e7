"""Caches parsed documents in memory for later questions.

An entry is evicted with its conversation, after a day, or when other entries need the space.
"""

import time
from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

from django.conf import settings

from apps.capabilities.documents.index import DocumentIndex

SECONDS = 24 * 3600.0
LEAST_BYTES = 64 * 2**20
BYTES_PER_CHUNK = 12 * 1024
MOST_CHUNKS = 20_000
"""Up to this many chunks of attached files are searched in memory. The database searches larger
sets.
"""


def most_bytes() -> int:
    """Return the cache's size limit in bytes.

    The limit is large enough for the attached files that one application searches in memory.
    """
    return max(LEAST_BYTES, min(settings.CORPUS_CHUNKS, MOST_CHUNKS) * BYTES_PER_CHUNK)


class DocumentKey(NamedTuple):
    """Identifies a cached document."""

    owner: str
    """The caller's bucket, or `OWNER` from `attached_files` for shared entries."""
    folder: str
    """The conversation's folder in the bucket, or ""."""
    address: str
    version: str
    """The version of the file, or a hash of its content."""


class DocumentCache:
    """A thread-safe cache that evicts the least recently used documents."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.entries: dict[DocumentKey, tuple[DocumentIndex, float]] = {}
        self.lock = Lock()

    def get(self, key: DocumentKey) -> DocumentIndex | None:
        with self.lock:
            self.drop_old()
            if key not in self.entries:
                return None
            found = self.entries[key] = self.entries.pop(key)
            return found[0]

    def put(self, key: DocumentKey, document: DocumentIndex) -> None:
        """Cache the document, unless its key has no owner."""
        if not key.owner:
            return
        with self.lock:
            self.drop(key)
            self.entries[key] = document, self.clock()
        self.trim()

    def trim(self) -> None:
        """Evict documents until the cache is within its size limit.

        Call this after embedding too, because vectors make documents larger.
        """
        most = most_bytes()
        with self.lock:
            self.drop_old()
            used = sum(document.size for document, _ in self.entries.values())
            while used > most:
                key = next(iter(self.entries))
                used -= self.entries[key][0].size
                self.drop(key)

    def forget_folder(self, folder: str) -> None:
        with self.lock:
            for key in [key for key in self.entries if key.folder == folder]:
                self.drop(key)

    def drop_old(self) -> None:
        oldest = self.clock() - SECONDS
        for key in [key for key, (_, since) in self.entries.items() if since <= oldest]:
            self.drop(key)

    def drop(self, key: DocumentKey) -> None:
        document, _ = self.entries.pop(key, (None, 0.0))
        if document is not None:
            document.is_dropped = True

    def clear(self) -> None:
        with self.lock:
            for key in list(self.entries):
                self.drop(key)


cache = DocumentCache()
