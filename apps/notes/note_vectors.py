"""Searches notes by meaning, with one embedding of each note's title, tags and beginning."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from channels.db import database_sync_to_async
from django.db.models import F, Q, QuerySet

from apps import lazy_numpy as np
from apps.notes.models import Note, NoteVector
from apps.notes.store import notes_of
from apps.workspace.embeddings.port import Embedder, Embeddings
from apps.workspace.memories.port import UNKNOWN
from apps.workspace.memories.similarity import letters_in_common

BATCH = 32
COMPARED = 1_000
"""The maximum number of embeddings in memory at a time."""
CHARACTERS = 8_000
"""At most this many characters of a note's text are embedded. Embedding models read less text than
this.
"""


@dataclass(frozen=True, slots=True)
class NoteHit:
    """A note that a search found. `score` is its similarity to the query, at most 1.0."""

    note: Note
    score: float


@dataclass(frozen=True, slots=True)
class EmbeddedNotes:
    """The result of `update`: how many notes were embedded, and how many remain."""

    done: int
    left: int


async def update(
    owner: str, embedder: Embedder, *, seconds: float, is_forced: bool = False
) -> EmbeddedNotes:
    """Spend about `seconds` embedding new and changed notes, and notes that another model embedded.

    With `is_forced`, embed all notes again. Raises `ServiceFailed` if the embedding service fails.
    """
    until, done = time.monotonic() + seconds, 0
    if is_forced:
        await database_sync_to_async(forget_vectors)(owner)
    while batch := await database_sync_to_async(next_batch)(owner, embedder.model):
        made = await embedder.embed([embedded_text(note) for note in batch])
        await database_sync_to_async(store)(batch, made, embedder.model)
        done += len(batch)
        if time.monotonic() > until:
            break
    return EmbeddedNotes(done, await database_sync_to_async(count_outdated)(owner, embedder.model))


async def search(
    owner: str, embedder: Embedder, query: str, *, most: int, threshold: float
) -> list[NoteHit]:
    """Return up to `most` notes whose similarity to the query is at least `threshold`, best first."""
    query_embedding = await embedder.embed([query])
    found: list[NoteHit] = await database_sync_to_async(nearest)(
        owner, query, query_embedding, embedder.model, most, threshold
    )
    return found


def embedded_text(note: Note) -> str:
    return "\n".join((note.title, ", ".join(note.tags), note.text[:CHARACTERS]))


def outdated_notes(owner: str, model: str) -> QuerySet[Note]:
    """Return the owner's notes that lack an embedding of their current content by this model."""
    known = Q(vector_row__model=model, vector_row__number=F("number"))
    return notes_of(owner).exclude(pk__in=notes_of(owner).filter(known).values("pk"))


def count_outdated(owner: str, model: str) -> int:
    return outdated_notes(owner, model).count()


def next_batch(owner: str, model: str) -> Sequence[Note]:
    return list(outdated_notes(owner, model).order_by("-modified_at", "-pk")[:BATCH])


def forget_vectors(owner: str) -> None:
    NoteVector.objects.filter(note__owner=owner).delete()


def store(notes: Sequence[Note], made: Embeddings, model: str) -> None:
    """Store the embeddings `made` for the notes. Notes that no longer exist are skipped."""
    there = set(
        Note.objects.filter(pk__in=[note.pk for note in notes]).values_list("pk", flat=True)
    )
    NoteVector.objects.bulk_create(
        (
            NoteVector(
                note=note,
                number=note.number,
                model=model,
                vector=vector.astype(np.float32).tobytes(),
                unknown_share=share,
            )
            for note, vector, share in zip(notes, made.vectors, made.unknown_shares, strict=True)
            if note.pk in there
        ),
        update_conflicts=True,
        unique_fields=("note",),
        update_fields=("number", "model", "vector", "unknown_share"),
    )


def nearest(
    owner: str, query: str, query_embedding: Embeddings, model: str, most: int, threshold: float
) -> list[NoteHit]:
    is_unknown = query_embedding.unknown_shares[0] > UNKNOWN
    scored = [
        *(() if is_unknown else by_vectors(owner, query_embedding, model)),
        *by_letters(owner, query, model, is_all=bool(is_unknown)),
    ]
    best = sorted((one for one in scored if one[1] >= threshold), key=lambda one: (-one[1], one[0]))
    notes = notes_of(owner).in_bulk([pk for pk, _ in best[:most]])
    return [NoteHit(notes[pk], score) for pk, score in best[:most] if pk in notes]


def by_vectors(owner: str, query_embedding: Embeddings, model: str) -> Iterator[tuple[int, float]]:
    """Yield the primary keys of notes with usable embeddings, each with its cosine similarity."""
    rows = rows_of(owner, model).filter(unknown_share__lte=UNKNOWN)
    size = query_embedding.vectors.shape[1] * 4
    pairs = rows.values_list("note", "vector").iterator(chunk_size=COMPARED)
    while batch := [
        (pk, bytes(vector)) for _, (pk, vector) in zip(range(COMPARED), pairs, strict=False)
    ]:
        fitting = [(pk, vector) for pk, vector in batch if len(vector) == size]
        if not fitting:
            continue
        stored = np.frombuffer(b"".join(vector for _, vector in fitting), np.float32)
        scores = stored.reshape(len(fitting), -1) @ query_embedding.vectors[0]
        yield from ((pk, float(score)) for (pk, _), score in zip(fitting, scores, strict=True))


def by_letters(owner: str, query: str, model: str, *, is_all: bool) -> Iterator[tuple[int, float]]:
    """Yield the primary keys of notes, each with the similarity of its letters to those of the
    query.

    This replaces the comparison of embeddings for notes whose words the model does not know. With
    `is_all`, all notes are compared by letters.
    """
    rows = rows_of(owner, model)
    rows = rows if is_all else rows.filter(unknown_share__gt=UNKNOWN)
    for row in rows.select_related("note").defer("vector").iterator(chunk_size=COMPARED):
        yield row.note_id, letters_in_common(embedded_text(row.note), query)


def rows_of(owner: str, model: str) -> QuerySet[NoteVector]:
    """Return this model's embeddings of the owner's notes, except outdated ones."""
    return NoteVector.objects.filter(
        note__owner=owner, note__deleted_at=None, model=model, number=F("note__number")
    )
