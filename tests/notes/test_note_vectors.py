"""D-45: semantic search in notes."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync

from apps.notes import note_vectors, store
from apps.notes.content import NoteContent
from apps.notes.note_vectors import EmbeddedNotes
from tests.contract import proves
from tests.notes.written import OTHER, OWNER, PERSON, write
from tests.workspace.embeddings.hashed import HashedEmbedder

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def found(query: str, threshold: float = 0.3, most: int = 10, model: str = "hashed"):
    hits = async_to_sync(note_vectors.search)(
        OWNER, HashedEmbedder(model), query, most=most, threshold=threshold
    )
    return [hit.note.title for hit in hits]


def update(model: str = "hashed", **wanted: bool) -> EmbeddedNotes:
    return async_to_sync(note_vectors.update)(OWNER, HashedEmbedder(model), seconds=60, **wanted)


@proves("D-45")
def test_the_most_alike_come_first_and_none_below_the_threshold():
    write("Sailing boats", "Boats that sail on the sea")
    write("Boats", "Boats with an engine")
    write("Bread", "Flour, water, salt")
    write("Sailing boats", "Of others: boats that sail", owner=OTHER)
    assert update() == EmbeddedNotes(3, 0)

    assert found("boats that sail on the sea") == ["Sailing boats", "Boats"]
    assert found("boats that sail on the sea", most=1) == ["Sailing boats"]
    assert found("boats that sail on the sea", threshold=0.99) == []


@proves("D-45")
def test_only_what_was_changed_is_embedded_again():
    note = write("Boats", "one")
    write("Bread", "two")
    update()
    changed = store.change(note, NoteContent("Boats", "three"), PERSON)

    assert update() == EmbeddedNotes(1, 0)
    assert update() == EmbeddedNotes(0, 0)
    assert update(is_forced=True) == EmbeddedNotes(2, 0)
    store.delete(changed, PERSON)
    assert found("three", threshold=0.0) == ["Bread"]


@proves("D-45")
def test_another_model_embeds_everything_again():
    write("Boats", "one")
    update()

    assert found("boats", model="other") == []
    assert update("other") == EmbeddedNotes(1, 0)
    assert found("boats", model="other") == ["Boats"]
    assert found("boats") == []


def test_an_update_ends_after_its_time_and_says_what_is_left(monkeypatch):
    monkeypatch.setattr(note_vectors, "BATCH", 2)
    for number in range(5):
        write(f"Note {number}")

    assert async_to_sync(note_vectors.update)(OWNER, HashedEmbedder(), seconds=-1) == EmbeddedNotes(
        2, 3
    )
    assert update() == EmbeddedNotes(3, 0)


def test_notes_of_unknown_words_are_compared_by_their_letters():
    write("旅行", "我想去东京旅行")
    write("Boats", "Boats that sail")
    update()

    assert found("东京旅行", threshold=0.7) == ["旅行"]
    assert found("boats that sail", threshold=0.5) == ["Boats"]


def test_vectors_are_compared_in_parts(monkeypatch):
    monkeypatch.setattr(note_vectors, "COMPARED", 2)
    for number in range(5):
        write(f"Boat {number}", "boats")
    update()

    assert len(found("boats", threshold=0.1)) == 5
