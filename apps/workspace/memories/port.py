"""The memories of one owner: a person in one application, or in all of an installation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from apps.workspace.embeddings.port import Embeddings

T = TypeVar("T")

Vectors = NDArray[np.float32]
"""One row for each text, of unit length."""

NO_VECTORS: Vectors = np.empty((0, 0), np.float32)
GENERAL = "general"
"""The category of a memory that names none."""
IMPORTANCE = 0.5
UNKNOWN = 0.30
"""The share of unknown tokens above which embeddings say nothing: two Chinese sentences without a
word in common had a cosine of 1.0 under all-MiniLM-L6-v2."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Something that is remembered of its owner.

    - `id`: the Unix second in which it was stored, or the next one that no other memory has.
    - `importance`: from 0 to 1.
    - `unknown_share`: as in `Embeddings`.
    - `is_separate`: its owner has undone a merge, so it is merged with none any more.
    """

    id: int
    content: str
    importance: float = IMPORTANCE
    category: str = GENERAL
    topics: tuple[str, ...] = ()
    unknown_share: float = 0.0
    is_separate: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """`score`: the similarity to what was searched, at most 1.0."""

    memory: Memory
    score: float


@dataclass(frozen=True, slots=True)
class Merge:
    """Memories that were merged because they say much the same.

    `survivor` is the id of the memory that has them all, one of the `originals` as they were before.
    """

    id: int
    survivor: int
    merged_at: datetime
    originals: tuple[Memory, ...]


@dataclass(frozen=True, eq=False)
class Collection:
    """All memories of one owner, in the order in which they were stored.

    `vectors` has their embeddings by `model`, in the same order. `deduplicated_at` is None before
    duplicates were first looked for.
    """

    memories: tuple[Memory, ...] = ()
    vectors: Vectors = field(default_factory=lambda: NO_VECTORS, repr=False)
    model: str = ""
    deduplicated_at: datetime | None = None

    @cached_property
    def unknown_places(self) -> tuple[int, ...]:
        """Where memories are whose embeddings say nothing."""
        return tuple(n for n, one in enumerate(self.memories) if one.unknown_share > UNKNOWN)

    @cached_property
    def taken_ids(self) -> set[int]:
        """Those of the memories, and maybe of some that were to be added and have not been stored."""
        return {memory.id for memory in self.memories}

    @cached_property
    def characters(self) -> int:
        """Of all contents."""
        return sum([len(memory.content) for memory in self.memories])

    def with_more(self, added: Sequence[Memory], vectors: Vectors, model: str) -> "Collection":
        """The collection with memories at its end; `vectors` are those of all.

        What was found out by looking at each memory is carried over: to find it out again took half
        of the time to store one more of 10,000.
        """
        first = len(self.memories)
        grown = replace(self, memories=(*self.memories, *added), vectors=vectors, model=model)
        unknown = (n for n, one in enumerate(added, first) if one.unknown_share > UNKNOWN)
        vars(grown).update(
            unknown_places=(*self.unknown_places, *unknown),
            taken_ids=self.taken_ids,
            characters=self.characters + sum(len(memory.content) for memory in added),
        )
        return grown


@dataclass(frozen=True, slots=True)
class Changed(Generic[T]):
    """What a change makes of a collection, and its result.

    A memory that is the same object as before has the same vector, unless `model` or the length of
    vectors changes. `merged` are new merges, `undone` the ids of those that are no more.
    """

    collection: Collection
    result: T
    merged: Sequence[Merge] = ()
    undone: frozenset[int] = frozenset()


Change = Callable[[Collection], Changed[T]]
"""Raises whatever it refuses with; nothing is stored then."""


class MemoryIndex(Protocol):
    """The memories of one owner as they are searched; there is at least one."""

    async def nearest(self, query: str, asked: Embeddings, limit: int) -> list[Hit] | None:
        """The memories most like the query, the best first; `asked` is its embedding.

        None if the collection has to be read: the vectors may be of another model.
        """
        ...


class MemoryStore(Protocol):
    """The memories of one owner. All methods raise `ServiceFailed` when they cannot be reached or
    read; nothing is overwritten then.
    """

    @property
    def most(self) -> int:
        """How many memories there is room for."""
        ...

    async def load(self) -> Collection: ...

    async def index(self) -> MemoryIndex | None:
        """None without memories."""
        ...

    async def change(self, change: Change[T]) -> T:
        """Apply a change to the newest collection and store what it makes, if that differs.

        It may be called several times, because another process was quicker. Raises as the change.
        """
        ...

    async def merges(self) -> Sequence[Merge]:
        """Those of the last 30 days, the oldest first."""
        ...

    async def delete_all(self) -> None:
        """Delete the memories, and the originals of merges."""
        ...
