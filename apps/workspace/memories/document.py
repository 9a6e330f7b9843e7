"""Converts the memories of one owner to and from JSON, for files in DIAL Core's storage and for
exports.

In addition to the format's required fields, a file contains the name of the embedding model, and
our own metadata for each memory. If a file does not name a model, the embeddings are recomputed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import msgspec
from django.utils.translation import gettext

from apps import lazy_numpy as np
from apps.errors import gettext_noop
from apps.workspace.embeddings.port import Vectors
from apps.workspace.memories.edits import check_memory, free_id
from apps.workspace.memories.errors import MemoryRefused
from apps.workspace.memories.limits import HIGHEST_ID, IMPORT_BYTES, MERGED_CHARACTERS
from apps.workspace.memories.port import (
    GENERAL,
    IMPORTANCE,
    MemoryItem,
    MemoryList,
    MergedMemories,
    no_vectors,
)

TOO_LARGE = gettext_noop(
    "The file is larger than {megabytes} MB. Split it, or remove the embeddings, which will be recomputed."
)
DIGITS = 7
"""Embeddings are written with this many decimal places, the precision of 32-bit floats."""


class Data(msgspec.Struct):
    id: int
    content: str
    importance: float = IMPORTANCE
    category: str = GENERAL
    topics: list[str] = []


class MemoryEntry(msgspec.Struct, omit_defaults=True):
    data: Data
    embedding: list[float] = []
    unknown_share: float = 0.0
    is_separate: bool = False


class MemoryDocument(msgspec.Struct):
    memories: list[MemoryEntry]
    updated_at: str | None = None
    last_deduplicated_at: datetime | None = None
    embedding_model: str = ""


class ImportEntry(msgspec.Struct):
    """A memory in an import. Its vector is ignored, because vectors are recomputed and would take a
    hundred times as much memory.
    """

    data: Data
    is_separate: bool = False


class ImportDocument(msgspec.Struct):
    memories: list[ImportEntry]


class MergeEntry(msgspec.Struct):
    id: int
    survivor: int
    merged_at: datetime
    originals: list[MemoryEntry]


class MergesDocument(msgspec.Struct):
    merges: list[MergeEntry]


_encode = msgspec.json.encode
_decode = msgspec.json.Decoder(MemoryDocument).decode
_decode_import = msgspec.json.Decoder(ImportDocument).decode
_decode_merges = msgspec.json.Decoder(MergesDocument).decode


def write_memories(collection: MemoryList, now: datetime) -> bytes:
    vectors = np.round(collection.vectors.astype(np.float64), DIGITS).tolist()
    memories = [
        entry_of(memory, vector)
        for memory, vector in zip(collection.memories, vectors, strict=True)
    ]
    deduplicated_at, model = collection.deduplicated_at, collection.model
    return _encode(MemoryDocument(memories, now.isoformat(), deduplicated_at, model))


def write_export(collection: MemoryList, now: datetime) -> bytes:
    """Return the collection as a file that can be imported. Vectors are omitted if the file would
    exceed the size limit.
    """
    written = write_memories(collection, now)
    if len(written) > IMPORT_BYTES:
        no_vectors = np.empty((len(collection.memories), 0), np.float32)
        written = write_memories(replace(collection, vectors=no_vectors), now)
    return written


def parse_memories(content: bytes) -> MemoryList:
    """Parse a file of memories. Raises `ValueError` if it is invalid."""
    found = _decode(content)
    vectors = read_vectors([entry.embedding for entry in found.memories])
    return MemoryList(
        tuple(read_memories(found.memories)),
        no_vectors() if vectors is None else vectors,
        "" if vectors is None else found.embedding_model,
        aware(found.last_deduplicated_at),
    )


def read_vectors(embeddings: Sequence[Sequence[float]]) -> Vectors | None:
    """Return the vectors as a matrix, or None if some are missing or their lengths differ."""
    lengths = {len(embedding) for embedding in embeddings}
    if len(lengths) != 1 or 0 in lengths:
        return None
    vectors: Vectors = np.asarray(embeddings, np.float32).reshape(len(embeddings), -1)
    return vectors


def read_memories(entries: Iterable[MemoryEntry]) -> list[MemoryItem]:
    """Return the memories. A memory whose ID is already in use gets a new one, because other
    programs that write this format do not guarantee unique IDs.
    """
    memories: dict[int, MemoryItem] = {}
    for entry in entries:
        memory = memory_of(entry)
        id = free_id(memory.id, memories.keys())
        memories[id] = replace(memory, id=id)
    return list(memories.values())


def read_import(content: bytes) -> list[MemoryItem]:
    """Return the memories in an imported file. Raises `MemoryRefused` if the file is too large or
    invalid.
    """
    if len(content) > IMPORT_BYTES:
        raise MemoryRefused("", TOO_LARGE, megabytes=IMPORT_BYTES // 2**20)
    try:
        found = _decode_import(content)
    except (ValueError, RecursionError) as error:
        raise MemoryRefused(
            "", gettext("This isn’t a memory file: {error}.").format(error=error)
        ) from error
    memories = []
    entries = [MemoryEntry(one.data, is_separate=one.is_separate) for one in found.memories]
    for position, memory in enumerate(read_memories(entries)):
        try:
            if not 0 <= memory.id < HIGHEST_ID:
                raise MemoryRefused(
                    "id",
                    gettext("{id} isn’t a valid Unix timestamp. Use seconds since 1970.").format(
                        id=memory.id
                    ),
                )
            memories.append(check_memory(memory, longest=MERGED_CHARACTERS))
        except MemoryRefused as error:
            path = f"memories[{position}].data.{error.field}"
            raise MemoryRefused(path, f"{path}: {error}") from error
    return memories


def write_merges(merges: Iterable[MergedMemories]) -> bytes:
    entries = [
        MergeEntry(merge.id, merge.survivor, merge.merged_at, [*map(entry_of, merge.originals)])
        for merge in merges
    ]
    return _encode(MergesDocument(entries))


def read_merges(content: bytes) -> list[MergedMemories]:
    """Parse a file of merges. Raises `ValueError` if it is invalid."""
    return [
        MergedMemories(
            one.id,
            one.survivor,
            aware(one.merged_at) or one.merged_at,
            tuple(map(memory_of, one.originals)),
        )
        for one in _decode_merges(content).merges
    ]


def entry_of(memory: MemoryItem, vector: Sequence[float] = ()) -> MemoryEntry:
    data = Data(memory.id, memory.content, memory.importance, memory.category, list(memory.topics))
    return MemoryEntry(data, list(vector), memory.unknown_share, memory.is_separate)


def memory_of(entry: MemoryEntry) -> MemoryItem:
    data = entry.data
    return MemoryItem(
        data.id,
        data.content,
        data.importance,
        data.category,
        tuple(data.topics),
        entry.unknown_share,
        entry.is_separate,
    )


def aware(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment
