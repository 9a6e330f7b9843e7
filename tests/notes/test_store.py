"""D-47: notes have versions, and two concurrent writers lose nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from threading import Thread

import pytest
from django.db import connection

from apps.notes import limits, store
from apps.notes.content import NoteContent, note_content
from apps.notes.errors import NoteChanged, NoteMissing, NoteRefused
from apps.notes.models import Note, NoteLink, NoteTag, NoteVersion
from apps.notes.store import NewNote
from tests.console.admin.rows.test_races import ON_POSTGRESQL, at_once
from tests.contract import proves
from tests.notes.written import AGENT, OTHER, OWNER, PERSON, said, text_of, titles, write

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]
NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


def test_a_note_is_stored_with_all_that_it_says_and_its_first_version():
    note = write("Boats", "We have [[two boats|Fleet]].", "sea", "Work", colour="blue")

    found = store.find_note(OWNER, "boats")
    assert note_content(found) == NoteContent(
        "Boats", "We have [[two boats|Fleet]].", ("sea", "Work"), {"colour": "blue"}
    )
    assert said(note) == [(1, "created", "Boats", False)]
    assert [row.key for row in NoteTag.objects.all()] == ["sea", "work"]
    assert [row.key for row in NoteLink.objects.all()] == ["fleet"]


@pytest.mark.parametrize("title", ["Boats", "boats", "BOATS", " boats ", "\uff22oat\uff53"])
def test_a_title_is_taken_however_it_is_spelled(title):
    write("Boats")
    write("Boats", owner=OTHER)

    with pytest.raises(NoteRefused, match=r"a note .* already"):
        write(title)
    assert titles() == ["Boats"]


UNFIT = [
    (NoteContent("  "), "title", "it is empty"),
    (NoteContent("x" * 201), "title", "201 characters"),
    (NoteContent("a [b]"), "title", "contains [, ], | or a control character. Remove these"),
    (NoteContent("a\x07b"), "title", "control character"),
    (NoteContent("a", "x" * 200_001), "text", "200,001 characters"),
    (NoteContent("a", "\0"), "text", "invalid characters"),
    (NoteContent("a", "", tuple(map(str, range(51)))), "tags", "The note has 51 tags"),
    (
        NoteContent("a", "", (), {"Big Name": "x"}),
        "fields.Big Name",
        "names must begin with a letter",
    ),
    (NoteContent("a", "", (), {"tags": "x"}), "fields.tags", "this name is reserved"),
    (NoteContent("a", "", (), {"b": "x" * 2_001}), "fields.b", "2,001 characters"),
]


def test_what_is_not_fit_is_refused_by_its_field(subtests):
    for content, field, words in UNFIT:
        with subtests.test(words):
            with pytest.raises(NoteRefused, match=words) as refused:
                store.create(OWNER, content, PERSON)
            assert refused.value.field == field
    assert titles() == []


def test_there_is_room_for_so_many_notes(monkeypatch):
    monkeypatch.setattr(store, "MOST_NOTES", 2)
    write("One")
    write("Two")

    with pytest.raises(NoteRefused, match="limit of 2 notes"):
        write("Three")
    write("Three", owner=OTHER)


def test_each_change_is_a_version_that_says_who_wrote_it():
    note = write("Plan", "First")
    store.change(note, NoteContent("Plan", "Second"), AGENT)
    same = store.change(store.find_note(OWNER, "Plan"), NoteContent("Plan", "Second"), PERSON)

    assert said(same) == [(1, "created", "Plan", False), (2, "changed", "Plan", True)]
    newest = same.versions.get(number=2)
    assert (newest.application, newest.conversation) == ("demo", "c-1")
    assert same.versions.get(number=1).text == "First"


def test_the_oldest_versions_give_way(monkeypatch):
    monkeypatch.setattr(store, "MOST_VERSIONS", 2)
    note = write("Plan")
    for text in ("a", "b", "c"):
        note = store.change(note, NoteContent("Plan", text), PERSON)

    assert [number for number, *_ in said(note)] == [3, 4]


def test_who_saw_an_older_version_is_told_and_overwrites_nothing():
    note = write("Plan", "First")
    store.change(note, NoteContent("Plan", "By another"), PERSON)

    with pytest.raises(NoteChanged, match="changed in the meantime"):
        store.change(note, NoteContent("Plan", "Mine"), PERSON)
    assert text_of("Plan") == "By another"


@proves("D-47")
def test_an_edit_is_made_again_of_what_somebody_else_wrote_meanwhile():
    write("Plan", "one")
    others = iter(["one two", "one two three"])

    def edit(content: NoteContent) -> NoteContent:
        if text := next(others, ""):
            store.change(store.find_note(OWNER, "Plan"), NoteContent("Plan", text), PERSON)
        return replace(content, text=f"{content.text} four")

    store.change_newest(OWNER, "Plan", edit, PERSON)
    assert text_of("Plan") == "one two three four"


@proves("D-47")
@pytest.mark.skipif(
    "connection.vendor == 'sqlite'", reason="SQLite lets one write at a time; PostgreSQL tests."
)
@pytest.mark.django_db(transaction=True)
def test_nothing_is_lost_when_many_write_at_once():
    write("Tally")

    def add(letter: str) -> None:
        with closing(connection):
            for _ in range(3):
                append(letter)

    threads = [Thread(target=add, args=(letter,)) for letter in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sorted(text_of("Tally")) == sorted("abcd" * 3)


def append(letter: str) -> None:
    """Append, retrying as often as other writers are faster."""
    with suppress(NoteChanged):
        store.change_newest(
            OWNER, "Tally", lambda now: replace(now, text=now.text + letter), PERSON
        )
        return
    append(letter)


def test_links_follow_a_new_title_and_code_stays_as_it_is():
    write("Fleet")
    write("Log", "See [[fleet]] and [[the boats|Fleet]].\n\n```\n[[Fleet]]\n```\n`[[Fleet]]`")
    write("Other", "[[Fleets]] are something else.")
    note = store.find_note(OWNER, "Fleet")

    renamed, followed = store.rename(note, "Ships", PERSON)

    assert (renamed.title, followed) == ("Ships", 1)
    assert text_of("Log") == (
        "See [[Ships]] and [[the boats|Ships]].\n\n```\n[[Fleet]]\n```\n`[[Fleet]]`"
    )
    assert text_of("Other") == "[[Fleets]] are something else."
    assert said(store.find_note(OWNER, "Log"))[-1] == (2, "relinked", "Log", False)


def test_a_renamed_note_that_is_brought_back_takes_its_links_along():
    write("Fleet")
    write("Log", "See [[Fleet]].")
    renamed, _ = store.rename(store.find_note(OWNER, "Fleet"), "Ships", AGENT)

    store.restore(renamed, 1, PERSON)

    assert titles() == ["Fleet", "Log"]
    assert text_of("Log") == "See [[Fleet]]."


def test_a_title_that_is_taken_is_no_new_title():
    write("Fleet")
    note = write("Ships")

    with pytest.raises(NoteRefused, match="already"):
        store.rename(note, "fleet", PERSON)
    assert titles() == ["Fleet", "Ships"]


def test_what_is_deleted_is_found_nowhere_and_can_be_brought_back():
    note = write("Plan", "See [[Log]].", "work")
    gone = store.delete(note, AGENT)
    assert titles() == []
    assert (NoteTag.objects.count(), NoteLink.objects.count()) == (0, 0)
    with pytest.raises(NoteMissing):
        store.find_note(OWNER, "Plan")

    store.restore(gone, 1, PERSON)

    back = store.find_note(OWNER, "Plan")
    assert note_content(back) == NoteContent("Plan", "See [[Log]].", ("work",))
    assert said(back) == [
        (1, "created", "Plan", False),
        (2, "deleted", "Plan", True),
        (3, "restored", "Plan", False),
    ]
    assert (NoteTag.objects.count(), NoteLink.objects.count()) == (1, 1)


def test_a_deleted_note_does_not_come_back_beside_one_of_its_title():
    gone = store.delete(write("Plan", "Old"), PERSON)
    write("Plan", "New")

    with pytest.raises(NoteRefused, match="already"):
        store.restore(gone, 1, PERSON)
    assert text_of("Plan") == "New"


def test_a_version_that_was_given_up_cannot_be_brought_back():
    with pytest.raises(NoteMissing, match="version 7 of this note no longer"):
        store.restore(write("Plan"), 7, PERSON)


def test_what_is_deleted_with_its_owner(django_user_model):
    ada = django_user_model.objects.create_user("ada")
    write("Mine", owner=f"user-{ada.pk}")
    write("Of others")

    ada.delete()

    assert [note.title for note in Note.objects.all()] == ["Of others"]
    assert limits.MOST_NOTES == 20_000


@ON_POSTGRESQL
@pytest.mark.django_db(transaction=True)
def test_of_two_notes_of_a_title_written_at_once_one_is_refused():
    def attempt(act: Callable[[], object]) -> str:
        try:
            act()
        except NoteRefused as error:
            return str(error)
        return ""

    new = NewNote(NoteContent("Log", "x"), NOON, NOON)
    many = [replace(new, content=NoteContent(f"Log {n}", "x")) for n in range(300)]

    def import_many() -> None:
        store.create_all(OWNER, many, PERSON, store.Action.IMPORTED)

    alone = at_once(*(lambda: attempt(lambda: write("Boats")) for _ in range(4)))
    imported = at_once(*(lambda: attempt(import_many) for _ in range(2)))

    assert sorted(alone) == [
        "",
        *["a note titled 'Boats' already exists. Choose another title."] * 3,
    ]
    assert sorted(imported) == ["", "one of the titles was used in the meantime; try again."]
    assert len(titles()) == 301
    assert NoteVersion.objects.count() == 301
