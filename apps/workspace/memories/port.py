"""Defines the interface to one owner's memories: a user's memories in one application, or in all
applications of an installation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from apps import lazy_numpy as np
from apps.workspace.embeddings.port import Embeddings, Vectors

T = TypeVar("T")

GENERAL = "general"
"""The default category of a memory."""
IMPORTANCE = 0.5
UNKNOWN = 0.30
"""The fraction of unknown tokens above which embeddings are unusable: two Chinese sentences without
a common word had a cosine similarity of 1.0 with all-MiniLM-L6-v2.
"""


def no_vectors() -> Vectors:
    return np.empty((0, 0), np.float32)


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """A fact that an application remembers about its user."""

    id: int
    """The Unix time in seconds at which the memory was stored, or the next number that is not in
    use.
    """
    content: str
    importance: float = IMPORTANCE  # from 0 to 1
    category: str = GENERAL
    topics: tuple[str, ...] = ()
    unknown_share: float = 0.0
    """The fraction of the memory's tokens that the embedding model does not know."""
    is_separate: bool = False
    """True if the owner has undone a merge of this memory. It is never merged again."""


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A memory that a search found."""

    memory: MemoryItem
    score: float
    """The similarity to the query, up to 1.0."""


@dataclass(frozen=True, slots=True)
class MergedMemories:
    """Memories that were merged because their meanings are similar."""

    id: int
    survivor: int
    """The ID of the merged memory, which is also the ID of one of the `originals`."""
    merged_at: datetime
    originals: tuple[MemoryItem, ...]


@dataclass(frozen=True, eq=False)
class MemoryList:
    """All memories of one owner, in the order in which they were stored."""

    memories: tuple[MemoryItem, ...] = ()
    vectors: Vectors = field(default_factory=no_vectors, repr=False)
    """The memories' embeddings, which `model` computed, in the same order."""
    model: str = ""
    deduplicated_at: datetime | None = None
    """The time of the last search for duplicates, or None."""

    @cached_property
    def unknown_positions(self) -> tuple[int, ...]:
        """Return the positions of the memories whose embeddings are unusable."""
        return tuple(n for n, one in enumerate(self.memories) if one.unknown_share > UNKNOWN)

    @cached_property
    def used_ids(self) -> set[int]:
        """Return the IDs that new memories must not get. The set may contain IDs that were never
        stored.
        """
        return {memory.id for memory in self.memories}

    @cached_property
    def characters(self) -> int:
        """Return the total number of characters in the contents of all memories."""
        return sum([len(memory.content) for memory in self.memories])

    def with_more(self, added: Sequence[MemoryItem], vectors: Vectors, model: str) -> "MemoryList":
        """Return the collection with memories added at its end. `vectors` contains the vectors of
        all memories.

        The cached properties of the new collection are derived from the old ones, because computing
        them from 10,000 memories would take half the time of storing one more memory.
        """
        first = len(self.memories)
        grown = replace(self, memories=(*self.memories, *added), vectors=vectors, model=model)
        unknown = (n for n, one in enumerate(added, first) if one.unknown_share > UNKNOWN)
        vars(grown).update(
            unknown_positions=(*self.unknown_positions, *unknown),
            used_ids=self.used_ids,
            characters=self.characters + sum(len(memory.content) for memory in added),
        )
        return grown


@dataclass(frozen=True, slots=True)
class ChangedMemories(Generic[T]):
    """A changed collection, and the result of the change.

    A memory that is still the same Python object has the same vector, unless `model` or the
    dimension of the vectors changes.
    """

    collection: MemoryList
    result: T
    merged: Sequence[MergedMemories] = ()
    """The merges that the change has made."""
    undone: frozenset[int] = frozenset()
    """The IDs of the merges that the change has undone."""


Change = Callable[[MemoryList], ChangedMemories[T]]
"""A function that returns a changed collection. If it raises an error, nothing is stored."""


class MemoryIndex(Protocol):
    """Searches the memories of an owner who has at least one memory."""

    async def nearest(
        self, query: str, embedding: Embeddings, limit: int
    ) -> list[MemoryHit] | None:
        """Return up to `limit` memories that are most similar to the query, best first.
        `embedding` is the query's embedding.

        Return None if the whole collection must be read, because its vectors may come from another
        model.
        """
        ...


class MemoryStore(Protocol):
    """The memories of one owner. All methods raise `ServiceFailed` if the memories are unavailable
    or unreadable; in that case, nothing is overwritten.
    """

    @property
    def most(self) -> int:
        """Return the maximum number of memories that the owner can have."""
        ...

    async def load(self) -> MemoryList: ...

    async def index(self) -> MemoryIndex | None:
        """Return an index for searching the memories, or None if there are no memories."""
        ...

    async def change(self, change: Change[T]) -> T:
        """Apply a change to the newest collection, and store the new collection if it differs.

        The change may be called several times if another process stores a change first. Raises the
        errors of the change.
        """
        ...

    async def merges(self) -> Sequence[MergedMemories]:
        """Return the merges from the last 30 days, oldest first."""
        ...

    async def delete_all(self) -> None:
        """Delete all memories of the owner, including the originals of merges."""
        ...
