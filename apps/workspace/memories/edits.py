"""Changes memory collections. The functions return new collections, and store nothing."""

from collections.abc import Collection as Ids
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext

from apps.agent.surrogates import well_formed
from apps.workspace.embeddings.port import Embeddings
from apps.workspace.memories.errors import MemoryMissing, MemoryRefused
from apps.workspace.memories.limits import (
    CONTENT_CHARACTERS,
    MERGED_CHARACTERS,
    MOST_TOPICS,
    NAME_CHARACTERS,
)
from apps.workspace.memories.port import (
    GENERAL,
    ChangedMemories,
    MemoryItem,
    MemoryList,
    no_vectors,
)


class OutdatedVectors(Exception):
    """Raised if the vectors of a collection come from a different model than the new vectors."""


def check_memory(
    memory: MemoryItem, categories: Sequence[str] | None = None, longest: int = CONTENT_CHARACTERS
) -> MemoryItem:
    """Return the memory with its text fields cleaned up. `categories` lists the allowed categories,
    or is None if any category is allowed.

    Raises `MemoryRefused` if the memory is invalid.
    """
    content = plain(memory.content)
    if not content:
        raise MemoryRefused("content", "it is empty. Write the fact to be remembered.")
    if len(content) > longest:
        problem = f"it has {len(content):,} characters; the limit is {longest:,}."
        raise MemoryRefused(
            "content",
            gettext("{problem} Write one fact, in one or two sentences.").format(problem=problem),
        )
    if not 0 <= memory.importance <= 1:
        raise MemoryRefused(
            "importance",
            gettext("Importance must be between 0 and 1, not {importance}.").format(
                importance=format(memory.importance, "g")
            ),
        )
    category = name(memory.category, "category") or GENERAL
    if categories is not None and category not in categories:
        raise MemoryRefused(
            "category",
            gettext("{category} isn’t a valid category. Choose one of: {names}.").format(
                category=repr(category), names=", ".join(categories)
            ),
        )
    topics = tuple(dict.fromkeys(filter(None, (name(one, "topics") for one in memory.topics))))
    if len(topics) > MOST_TOPICS:
        raise MemoryRefused(
            "topics", f"there are {len(topics)} topics; the limit is {MOST_TOPICS}."
        )
    return replace(memory, content=content, category=category, topics=topics)


def plain(text: str) -> str:
    return well_formed(text.replace("\0", "")).strip()


def name(text: str, field: str) -> str:
    """Return a category or topic on one line. `field` is the field name that `MemoryRefused`
    reports if the text is too long.
    """
    line = " ".join(plain(text).split())
    if len(line) > NAME_CHARACTERS:
        problem = gettext("{line}… is too long; the limit is {name_characters} characters.").format(
            line=repr(line[:NAME_CHARACTERS]), name_characters=NAME_CHARACTERS
        )
        raise MemoryRefused(field, problem)
    return line


def free_id(first: int, used: Ids[int]) -> int:
    while first in used:
        first += 1
    return first


def are_comparable(collection: MemoryList, embeddings: Embeddings) -> bool:
    """Return True if vectors of these embeddings can be compared with the collection's vectors,
    because both come from the same model.
    """
    if not collection.memories:
        return True
    width = embeddings.vectors.shape[1]
    return collection.model == embeddings.model and collection.vectors.shape[1] == width


def with_added(
    collection: MemoryList, memories: Sequence[MemoryItem], embeddings: Embeddings, most: int
) -> ChangedMemories[tuple[MemoryItem, ...]]:
    """Return the collection with new memories added. A memory whose ID is already in use gets the
    next free ID.

    Raises `MemoryRefused` if the collection would have more than `most` memories, and
    `OutdatedVectors` if the vectors come from a different model.
    """
    # Imported at first use, because it imports NumPy.
    from apps.workspace.memories.growth import append_rows

    if not are_comparable(collection, embeddings):
        raise OutdatedVectors
    if len(collection.memories) + len(memories) > most:
        raise MemoryRefused(
            "",
            gettext(
                "You’ve reached the limit of {most} memories. Delete some before you add more."
            ).format(most=number_format(most, force_grouping=True)),
        )
    used = collection.used_ids
    added = []
    for memory, share in zip(memories, embeddings.unknown_shares, strict=True):
        added.append(replace(memory, id=free_id(memory.id, used), unknown_share=share))
        used.add(added[-1].id)
    kept = collection.vectors if collection.memories else embeddings.vectors[:0]
    vectors = append_rows(kept, embeddings.vectors)
    grown = collection.with_more(added, vectors, embeddings.model)
    return ChangedMemories(grown, tuple(added))


def with_missing(
    collection: MemoryList, memories: Sequence[MemoryItem], embeddings: Embeddings, most: int
) -> ChangedMemories[int]:
    """Add the memories whose content the collection does not contain yet. Return the new collection
    and the number of added memories.

    Raises the same errors as `with_added`.
    """
    known = {memory.content for memory in collection.memories}
    positions = [position for position, one in enumerate(memories) if one.content not in known]
    if not positions:
        return ChangedMemories(collection, 0)
    shares = tuple(embeddings.unknown_shares[position] for position in positions)
    rest = replace(embeddings, vectors=embeddings.vectors[positions], unknown_shares=shares)
    added = with_added(collection, [memories[position] for position in positions], rest, most)
    return ChangedMemories(added.collection, len(positions))


def with_fields(
    collection: MemoryList,
    id: int,
    fields: Mapping[str, Any],
    embeddings: Embeddings | None,
    categories: Sequence[str] | None = None,
) -> ChangedMemories[MemoryItem]:
    """Return the collection with the `fields` of the memory `id` changed. `embeddings` contains the
    embedding of its new content, or None if the content does not change.

    Raises `MemoryMissing`, `MemoryRefused` for invalid fields, and `OutdatedVectors` if the vectors
    come from a different model.
    """
    position = position_of(collection, id)
    memory = replace(collection.memories[position], **fields)
    if embeddings is not None:
        memory = replace(memory, unknown_share=embeddings.unknown_shares[0])
    longest = CONTENT_CHARACTERS if "content" in fields else MERGED_CHARACTERS
    memory = check_memory(memory, categories if "category" in fields else None, longest)
    return ChangedMemories(with_replaced(collection, position, memory, embeddings), memory)


def with_replaced(
    collection: MemoryList, position: int, memory: MemoryItem, embeddings: Embeddings | None
) -> MemoryList:
    """Return the collection with the memory at `position` replaced. Raises
    `OutdatedVectors` if the vectors come from a different model.
    """
    memories = (*collection.memories[:position], memory, *collection.memories[position + 1 :])
    if embeddings is None:
        return replace(collection, memories=memories)
    if not are_comparable(collection, embeddings):
        raise OutdatedVectors
    vectors = collection.vectors.copy()
    vectors[position] = embeddings.vectors[0]
    return replace(collection, memories=memories, vectors=vectors)


def without(collection: MemoryList, ids: Ids[int]) -> MemoryList:
    keep = [position for position, one in enumerate(collection.memories) if one.id not in ids]
    if not keep:
        return replace(collection, memories=(), vectors=no_vectors(), model="")
    memories = tuple(collection.memories[position] for position in keep)
    return replace(collection, memories=memories, vectors=collection.vectors[keep])


def with_vectors(
    collection: MemoryList, memories: Sequence[MemoryItem], embeddings: Embeddings
) -> ChangedMemories[bool]:
    """Return the collection with new vectors, and True. If its memories have changed and are no
    longer equal to `memories`, return the unchanged collection, and False.
    """
    if collection.memories != tuple(memories):
        return ChangedMemories(collection, False)
    renewed = tuple(
        replace(memory, unknown_share=share)
        for memory, share in zip(memories, embeddings.unknown_shares, strict=True)
    )
    changed = replace(
        collection, memories=renewed, vectors=embeddings.vectors, model=embeddings.model
    )
    return ChangedMemories(changed, True)


def position_of(collection: MemoryList, id: int) -> int:
    """Return the position of the memory with this ID. Raises `MemoryMissing` if there is none."""
    for position, memory in enumerate(collection.memories):
        if memory.id == id:
            return position
    raise MemoryMissing(
        "id", f"there is no memory {id}. Search for it, and use the ID in the result."
    )
