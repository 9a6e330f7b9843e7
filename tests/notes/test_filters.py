"""D-45: the query language of searches, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.notes import store
from apps.notes.content import NoteContent
from apps.notes.errors import NoteRefused
from apps.notes.models import Note
from apps.notes.note_lists import matching
from tests.contract import proves
from tests.notes.written import OTHER, OWNER, PERSON, write

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


def found(filter: str, owner: str = OWNER) -> list[str]:
    return sorted(note.title for note in matching(owner, filter))


def three() -> None:
    write("Boat log", "We sailed to Riga.", "Sea", "log", status="open")
    write("Shopping", "Milk and a boat hook", "home", status="done")
    write("Zürich", "Straße der Züge", "travel log")
    write("Boat log", "Of others", "sea", owner=OTHER)
    for days, title in enumerate(("Zürich", "Shopping", "Boat log")):
        Note.objects.filter(title=title).update(modified_at=NOON + timedelta(days=days))


FOUND = {
    "": ["Boat log", "Shopping", "Zürich"],
    "boat": ["Boat log", "Shopping"],
    "BOAT riga": ["Boat log"],
    '"boat hook"': ["Shopping"],
    "-boat": ["Zürich"],
    "straße": ["Zürich"],
    "ZÜGE": ["Zürich"],
    "tag:sea": ["Boat log"],
    "tag:SEA": ["Boat log"],
    'tag:"travel log"': ["Zürich"],
    "tag:log": ["Boat log"],
    "-tag:log": ["Shopping", "Zürich"],
    "title:zür": ["Zürich"],
    "title:LOG": ["Boat log"],
    "field:status=open": ["Boat log"],
    'field:status="done"': ["Shopping"],
    "field:status": ["Boat log", "Shopping"],
    "-field:status=open": ["Shopping", "Zürich"],
    "field:contains=x": [],
    "field:in": [],
    "modified>2026-11-02": ["Boat log", "Shopping"],
    "modified>=2026-11-02": ["Boat log", "Shopping", "Zürich"],
    "modified<2026-11-03": ["Zürich"],
    "modified<=2026-11-03": ["Shopping", "Zürich"],
    "modified>2026-11-03T12:00": ["Boat log"],
    "modified<2026-11-03T12:00:00+00:00": ["Zürich"],
    "[tag[sea]]": ["Boat log"],
    "[!tag[sea]]": ["Shopping", "Zürich"],
    "[search[riga]]": ["Boat log"],
    "[tag[log]search[riga]]": ["Boat log"],
    "[title[Boat log]]": ["Boat log"],
    "[[boat log]]": ["Boat log"],
    "[all[tiddlers]!is[system]tag[home]]": ["Shopping"],
    "[all[tiddlers]]": ["Boat log", "Shopping", "Zürich"],
    "boat tag:home -field:status=open": ["Shopping"],
    "wood": [],
}
"""The titles that each filter finds among `three`."""


@proves("D-45")
def test_notes_are_found():
    three()

    assert {filter: found(filter) for filter in FOUND} == FOUND


@proves("D-45")
@pytest.mark.parametrize("text", ["我想去东京旅行", "ฉันอยากไปโตเกียว", "東京に行きたい"])
def test_words_of_languages_without_spaces_are_found(text):
    write("Note", text)

    assert found(text[3:6]) == ["Note"]
    assert found(text[3:5]) == ["Note"]


def test_what_was_changed_and_deleted_is_not_found_any_more():
    note = write("Plan", "Something about whales")
    write("Gone", "More whales")
    store.change(note, NoteContent("Plan", "Nothing about them"), PERSON)
    store.delete(store.find_note(OWNER, "Gone"), PERSON)

    assert found("whales") == []
    assert found("nothing") == ["Plan"]


@proves("D-45")
@pytest.mark.parametrize(
    ("filter", "words"),
    [
        (
            "modified>yesterday",
            "'yesterday' can’t be used. Enter a date from 1900 to 2199. Use a format such as 2026-11-01",
        ),
        ("modified>9999-12-31", "can’t be used. Enter a date from 1900 to 2199. Use a format"),
        ("[sort[title]]", r"Unknown filter: 'sort\[title\]'. Use words"),
        ("x " * 21, "21 conditions; the limit is 20"),
        ("x" * 1001, "1,001 characters"),
    ],
)
def test_what_is_not_understood_is_said(filter, words):
    with pytest.raises(NoteRefused, match=words) as refused:
        found(filter)

    assert refused.value.field == "filter"


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_any_other_text_can_be_searched(filter):
    try:
        found(filter)
    except NoteRefused:
        assert "[" in filter or "modified" in filter
