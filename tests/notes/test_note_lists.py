"""D-46: backlinks, contents, recent changes, pages of lists, and problems of notes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.notes.checks import check_note
from apps.notes.models import Note
from apps.notes.note_lists import backlinks, contents, list_notes, recent, tag_counts
from apps.workspace.local.files import files
from tests.contract import proves
from tests.notes.written import OTHER, OWNER, write

pytestmark = pytest.mark.django_db


@proves("D-46")
def test_backlinks_are_the_notes_whose_text_leads_there():
    write("Fleet")
    write("Log", "See [[fleet]].")
    write("Code", "`[[Fleet]]`")
    write("Far", "[[the boats|Fleet]]")
    write("Log", "[[Fleet]]", owner=OTHER)

    assert [note.title for note in backlinks(OWNER, "FLEET")] == ["Far", "Log"]


def test_the_contents_are_the_tree_of_tags():
    write("Book")
    write("Chapter 1", "", "Book")
    write("Chapter 2", "", "Book")
    write("Section", "", "Chapter 1")
    write("Detail", "", "Section")

    assert tree("Book", 3) == ["1 Chapter 1", "2 Section", "3 Detail", "1 Chapter 2"]
    assert tree("Book", 1) == ["1 Chapter 1", "1 Chapter 2"]
    assert tree("Nothing", 3) == []


@proves("D-46")
def test_a_tree_that_leads_back_into_itself_ends():
    write("A", "", "C")
    write("B", "", "A")
    write("C", "", "B", "C")

    assert tree("A", 10) == ["1 B", "2 C", "3 A again", "3 C again"]


def tree(root: str, depth: int) -> list[str]:
    return [
        f"{one.depth} {one.title}{' again' * one.is_repeated}"
        for one in contents(OWNER, root, depth)
    ]


def test_the_newest_changes_come_first():
    for days, title in enumerate(("Now", "Yesterday", "Long ago")):
        note = write(title)
        at = timezone.now() - timedelta(days=days * 2)
        Note.objects.filter(pk=note.pk).update(modified_at=at)

    assert [note.title for note in recent(OWNER)] == ["Now", "Yesterday", "Long ago"]
    assert [note.title for note in recent(OWNER, 3)] == ["Now", "Yesterday"]


def test_pages_of_a_list_have_each_note_once_and_read_no_bodies():
    for number in range(25):
        write(f"Note {number:02}", "A body")
    rows = list_notes(OWNER, "")

    pages = [list(rows[start : start + 10]) for start in (0, 10, 20, 30)]

    assert [len(page) for page in pages] == [10, 10, 5, 0]
    assert [note.title for page in pages for note in page] == [f"Note {n:02}" for n in range(25)]
    assert all("text" in note.get_deferred_fields() for page in pages for note in page)


def test_tags_are_counted_in_one_workspace():
    write("A", "", "Sea", "log")
    write("B", "", "sea")
    write("C", "", "sea", owner=OTHER)

    assert [(name.lower(), count) for name, count in tag_counts(OWNER, 10)] == [
        ("sea", 2),
        ("log", 1),
    ]


@pytest.mark.postgres
@proves("D-46")
def test_what_is_wrong_with_a_note_is_said_with_its_line():
    write("Log")
    files.keep(OWNER, "notes/there.png", b"x", "image/png")
    text = (
        "See [[log]] and [[Nowhere]].\n"
        f"![](files/{OWNER}/notes/there.png) ![](files/{OWNER}/notes/gone.png)\n"
        "A [[link that goes on\n"
        "```python\n[[code]]"
    )
    note = write("Plan", text)

    assert [(one.line, one.text) for one in check_note(note)] == [
        (1, "This note links to 'Nowhere', but no note has this title."),
        (2, f"The file files/{OWNER}/notes/gone.png doesn’t exist."),
        (3, "A link that begins with [[ must end with ]]."),
        (4, "This code block isn’t closed. Add ``` on a line after it."),
    ]


def test_a_front_matter_in_a_text_is_read():
    note = write("Plan", "---\ntitle: [a\n---\nText")

    (problem,) = check_note(note)
    assert (problem.line, problem.text[:34]) == (1, "The front matter is not valid YAML")
    assert check_note(write("Rule", "---\n\nText below a line")) == []
    assert check_note(write("Fine", "~~~\n```\n~~~\n`[[`")) == []
