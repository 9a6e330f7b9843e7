"""What can be done to a collection of memories. Plain functions; nothing is stored here."""

from collections.abc import Collection as Ids
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext

from apps.agent.surrogates import well_formed
from apps.errors import MemoryMissing, MemoryRefused
from apps.workspace.embeddings.port import Embeddings
from apps.workspace.memories.growth import appended
from apps.workspace.memories.limits import (
    CONTENT_CHARACTERS,
    MERGED_CHARACTERS,
    MOST_TOPICS,
    NAME_CHARACTERS,
)
from apps.workspace.memories.port import GENERAL, NO_VECTORS, Changed, Collection, Memory


class OutdatedVectors(Exception):
    """The vectors of a collection are of another model than the new ones."""


def checked(
    memory: Memory, categories: Sequence[str] | None = None, longest: int = CONTENT_CHARACTERS
) -> Memory:
    """The memory with tidy texts. `categories` are the only ones allowed; None: any.

    Raises `MemoryRefused`.
    """
    content = plain(memory.content)
    if not content:
        raise MemoryRefused("content", "it says nothing. Write the fact to be remembered.")
    if len(content) > longest:
        problem = f"it has {len(content):,} characters; at most {longest:,} are possible."
        raise MemoryRefused(
            "content",
            gettext("{problem} Write one fact, in one or two sentences.").format(problem=problem),
        )
    if not 0 <= memory.importance <= 1:
        raise MemoryRefused(
            "importance",
            gettext("{importance} is not between 0 and 1.").format(
                importance=format(memory.importance, "g")
            ),
        )
    category = name(memory.category, "category") or GENERAL
    if categories is not None and category not in categories:
        raise MemoryRefused(
            "category",
            gettext("{category} is none of the categories here: {names}.").format(
                category=repr(category), names=", ".join(categories)
            ),
        )
    topics = tuple(dict.fromkeys(filter(None, (name(one, "topics") for one in memory.topics))))
    if len(topics) > MOST_TOPICS:
        raise MemoryRefused("topics", f"there are {len(topics)}; write at most {MOST_TOPICS}.")
    return replace(memory, content=content, category=category, topics=topics)


def plain(text: str) -> str:
    return well_formed(text.replace("\0", "")).strip()


def name(text: str, field: str) -> str:
    """On one line. Raises `MemoryRefused`."""
    line = " ".join(plain(text).split())
    if len(line) > NAME_CHARACTERS:
        problem = gettext("{line}… is too long; at most {name_characters} characters.").format(
            line=repr(line[:NAME_CHARACTERS]), name_characters=NAME_CHARACTERS
        )
        raise MemoryRefused(field, problem)
    return line


def free_id(wanted: int, taken: Ids[int]) -> int:
    while wanted in taken:
        wanted += 1
    return wanted


def fits(collection: Collection, embeddings: Embeddings) -> bool:
    """Whether vectors of the embeddings can be compared with those of the collection."""
    if not collection.memories:
        return True
    width = embeddings.vectors.shape[1]
    return collection.model == embeddings.model and collection.vectors.shape[1] == width


def with_added(
    collection: Collection, memories: Sequence[Memory], embeddings: Embeddings, most: int
) -> Changed[tuple[Memory, ...]]:
    """The collection with new memories, whose ids move on to free ones.

    Raises `MemoryRefused` without room, `OutdatedVectors`.
    """
    if not fits(collection, embeddings):
        raise OutdatedVectors
    if len(collection.memories) + len(memories) > most:
        raise MemoryRefused(
            "",
            gettext(
                "There is room for {most} memories, and it is full. Some have to be forgotten before more can be stored."
            ).format(most=number_format(most, force_grouping=True)),
        )
    taken = collection.taken_ids
    added = []
    for memory, share in zip(memories, embeddings.unknown_shares, strict=True):
        added.append(replace(memory, id=free_id(memory.id, taken), unknown_share=share))
        taken.add(added[-1].id)
    kept = collection.vectors if collection.memories else embeddings.vectors[:0]
    vectors = appended(kept, embeddings.vectors)
    grown = collection.with_more(added, vectors, embeddings.model)
    return Changed(grown, tuple(added))


def with_missing(
    collection: Collection, memories: Sequence[Memory], embeddings: Embeddings, most: int
) -> Changed[int]:
    """The collection with those memories whose content none has; the result is how many.

    Raises as `with_added`.
    """
    known = {memory.content for memory in collection.memories}
    places = [place for place, one in enumerate(memories) if one.content not in known]
    if not places:
        return Changed(collection, 0)
    shares = tuple(embeddings.unknown_shares[place] for place in places)
    rest = replace(embeddings, vectors=embeddings.vectors[places], unknown_shares=shares)
    added = with_added(collection, [memories[place] for place in places], rest, most)
    return Changed(added.collection, len(places))


def with_fields(
    collection: Collection,
    id: int,
    fields: Mapping[str, Any],
    embeddings: Embeddings | None,
    categories: Sequence[str] | None = None,
) -> Changed[Memory]:
    """The collection with other `fields` of one memory; `embeddings` are of its new content.

    Raises `MemoryRefused`, `OutdatedVectors`.
    """
    place = place_of(collection, id)
    memory = replace(collection.memories[place], **fields)
    if embeddings is not None:
        memory = replace(memory, unknown_share=embeddings.unknown_shares[0])
    longest = CONTENT_CHARACTERS if "content" in fields else MERGED_CHARACTERS
    memory = checked(memory, categories if "category" in fields else None, longest)
    return Changed(with_replaced(collection, place, memory, embeddings), memory)


def with_replaced(
    collection: Collection, place: int, memory: Memory, embeddings: Embeddings | None
) -> Collection:
    """Raises `OutdatedVectors`."""
    memories = (*collection.memories[:place], memory, *collection.memories[place + 1 :])
    if embeddings is None:
        return replace(collection, memories=memories)
    if not fits(collection, embeddings):
        raise OutdatedVectors
    vectors = collection.vectors.copy()
    vectors[place] = embeddings.vectors[0]
    return replace(collection, memories=memories, vectors=vectors)


def without(collection: Collection, ids: Ids[int]) -> Collection:
    """The collection without these memories."""
    keep = [place for place, one in enumerate(collection.memories) if one.id not in ids]
    if not keep:
        return replace(collection, memories=(), vectors=NO_VECTORS, model="")
    memories = tuple(collection.memories[place] for place in keep)
    return replace(collection, memories=memories, vectors=collection.vectors[keep])


def with_vectors(
    collection: Collection, memories: Sequence[Memory], embeddings: Embeddings
) -> Changed[bool]:
    """The collection with new vectors of all its memories, if these are still the `memories`."""
    if collection.memories != tuple(memories):
        return Changed(collection, False)
    renewed = tuple(
        replace(memory, unknown_share=share)
        for memory, share in zip(memories, embeddings.unknown_shares, strict=True)
    )
    changed = replace(
        collection, memories=renewed, vectors=embeddings.vectors, model=embeddings.model
    )
    return Changed(changed, True)


def place_of(collection: Collection, id: int) -> int:
    """Raises `MemoryMissing`."""
    for place, memory in enumerate(collection.memories):
        if memory.id == id:
            return place
    raise MemoryMissing(
        "id", f"there is no memory {id}. Search for it, and take its id from there."
    )
