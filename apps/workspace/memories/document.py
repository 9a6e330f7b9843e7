"""The memories of one owner as JSON: the file in DIAL Core's storage, and what is exported.

Beside what the form asks for, a file has the model of its embeddings, and of each memory what we
know more. A file without a model is read; its embeddings are made anew.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import numpy as np
from django.utils.translation import gettext

from apps.errors import MemoryRefused, gettext_noop
from apps.workspace.memories.edits import checked, free_id
from apps.workspace.memories.limits import HIGHEST_ID, IMPORT_BYTES, MERGED_CHARACTERS
from apps.workspace.memories.port import (
    GENERAL,
    IMPORTANCE,
    NO_VECTORS,
    Collection,
    Memory,
    Merge,
    Vectors,
)

TOO_LARGE = gettext_noop(
    "The file has more than {megabytes} MB. Part it into several, or leave out the embeddings, which "
    "are made anew."
)
DIGITS = 7
"""Of each number of an embedding, as many as 32 bits have."""


class Data(msgspec.Struct):
    id: int
    content: str
    importance: float = IMPORTANCE
    category: str = GENERAL
    topics: list[str] = []


class Entry(msgspec.Struct, omit_defaults=True):
    data: Data
    embedding: list[float] = []
    unknown_share: float = 0.0
    is_separate: bool = False


class Document(msgspec.Struct):
    memories: list[Entry]
    updated_at: str | None = None
    last_deduplicated_at: datetime | None = None
    embedding_model: str = ""


class ImportEntry(msgspec.Struct):
    """Without the vector, which is made anew and would need a hundred times the memory."""

    data: Data
    is_separate: bool = False


class ImportDocument(msgspec.Struct):
    memories: list[ImportEntry]


class MergeEntry(msgspec.Struct):
    id: int
    survivor: int
    merged_at: datetime
    originals: list[Entry]


class MergesDocument(msgspec.Struct):
    merges: list[MergeEntry]


_encode = msgspec.json.encode
_decode = msgspec.json.Decoder(Document).decode
_decode_import = msgspec.json.Decoder(ImportDocument).decode
_decode_merges = msgspec.json.Decoder(MergesDocument).decode


def write(collection: Collection, now: datetime) -> bytes:
    vectors = np.round(collection.vectors.astype(np.float64), DIGITS).tolist()
    memories = [
        entry_of(memory, vector)
        for memory, vector in zip(collection.memories, vectors, strict=True)
    ]
    deduplicated_at, model = collection.deduplicated_at, collection.model
    return _encode(Document(memories, now.isoformat(), deduplicated_at, model))


def write_export(collection: Collection, now: datetime) -> bytes:
    """A file that can be imported, as far as its texts leave room."""
    written = write(collection, now)
    if len(written) > IMPORT_BYTES:
        no_vectors = np.empty((len(collection.memories), 0), np.float32)
        written = write(replace(collection, vectors=no_vectors), now)
    return written


def read(content: bytes) -> Collection:
    """Raises `ValueError`."""
    found = _decode(content)
    vectors = read_vectors([entry.embedding for entry in found.memories])
    return Collection(
        tuple(read_memories(found.memories)),
        NO_VECTORS if vectors is None else vectors,
        "" if vectors is None else found.embedding_model,
        aware(found.last_deduplicated_at),
    )


def read_vectors(embeddings: Sequence[Sequence[float]]) -> Vectors | None:
    """None if they are not of one length, or have none."""
    lengths = {len(embedding) for embedding in embeddings}
    if len(lengths) != 1 or 0 in lengths:
        return None
    vectors: Vectors = np.asarray(embeddings, np.float32).reshape(len(embeddings), -1)
    return vectors


def read_memories(entries: Iterable[Entry]) -> list[Memory]:
    """Their ids differ, which other writers of this form do not see to."""
    memories: dict[int, Memory] = {}
    for entry in entries:
        memory = memory_of(entry)
        id = free_id(memory.id, memories.keys())
        memories[id] = replace(memory, id=id)
    return list(memories.values())


def read_import(content: bytes) -> list[Memory]:
    """Raises `MemoryRefused`."""
    if len(content) > IMPORT_BYTES:
        raise MemoryRefused("", TOO_LARGE, megabytes=IMPORT_BYTES // 2**20)
    try:
        found = _decode_import(content)
    except (ValueError, RecursionError) as error:
        raise MemoryRefused(
            "", gettext("This is no file of memories: {error}.").format(error=error)
        ) from error
    memories = []
    entries = [Entry(one.data, is_separate=one.is_separate) for one in found.memories]
    for place, memory in enumerate(read_memories(entries)):
        try:
            if not 0 <= memory.id < HIGHEST_ID:
                raise MemoryRefused(
                    "id", gettext("{id} is no number of seconds since 1970.").format(id=memory.id)
                )
            memories.append(checked(memory, longest=MERGED_CHARACTERS))
        except MemoryRefused as error:
            path = f"memories[{place}].data.{error.field}"
            raise MemoryRefused(path, f"{path}: {error}") from error
    return memories


def write_merges(merges: Iterable[Merge]) -> bytes:
    entries = [
        MergeEntry(merge.id, merge.survivor, merge.merged_at, [*map(entry_of, merge.originals)])
        for merge in merges
    ]
    return _encode(MergesDocument(entries))


def read_merges(content: bytes) -> list[Merge]:
    """Raises `ValueError`."""
    return [
        Merge(
            one.id,
            one.survivor,
            aware(one.merged_at) or one.merged_at,
            tuple(map(memory_of, one.originals)),
        )
        for one in _decode_merges(content).merges
    ]


def entry_of(memory: Memory, vector: Sequence[float] = ()) -> Entry:
    data = Data(memory.id, memory.content, memory.importance, memory.category, list(memory.topics))
    return Entry(data, list(vector), memory.unknown_share, memory.is_separate)


def memory_of(entry: Entry) -> Memory:
    data = entry.data
    return Memory(
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
