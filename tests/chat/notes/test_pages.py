"""D-45 to D-47: the pages on which users read and write notes."""

from __future__ import annotations

from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.accounts.models import Team
from apps.notes import store
from apps.notes.content import NoteContent, note_content
from apps.notes.models import Note
from apps.notes.store import Author
from tests.catalog.rows import store_application
from tests.chat.scripts import MANIFEST
from tests.contract import proves
from tests.notes.written import PERSON, said, text_of, titles, write

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


@pytest.fixture
def owner(grace: User) -> str:
    return f"user-{grace.pk}"


def told(response: Any) -> list[str]:
    return [str(message) for message in response.context["messages"]]


def shown(response: Any) -> list[str]:
    return [note.title for note in response.context["page"]]


def sent(note: Note | None = None, **given: Any) -> dict[str, Any]:
    """Return what the form of a note sends."""
    content = NoteContent("") if note is None else note_content(note)
    usual = {"title": content.title, "text": content.text, "tags": ", ".join(content.tags)}
    number = 0 if note is None else note.number
    return {**usual, "fields_text": "", "number": number, **given}


def by_agent(owner: str, title: str, text: str) -> Note:
    author = Author(None, is_agent=True, application="helper")
    return store.change(store.find_note(owner, title), NoteContent(title, text), author)


def test_the_list_has_the_notes_of_the_person_by_their_last_change(browser, owner):
    write("First", "# Plan\n\n**Big** <b>bold</b>", "sea", owner=owner)
    write("Second", owner=owner)
    write("Of others", "", "sea")

    response = browser.get("/notes/")

    assert shown(response) == ["Second", "First"]
    assert response.context["tags"] == [("sea", 1)]
    assert "Plan Big &lt;b&gt;bold" in response.text
    assert ">just now</time>" in response.text
    assert shown(browser.get("/notes/", {"q": "tag:sea"})) == ["First"]
    assert browser.get("/notes/", {"q": "modified>x"}).status_code == 400


def test_who_is_not_signed_in_is_asked_to():
    for path in ("/notes/", "/notes/new/", "/notes/1/", "/notes/1/history/", "/notes/export/"):
        assert Client().get(path).headers["Location"] == f"/accounts/login/?next={path}"
    for path in ("/notes/1/delete/", "/notes/links/", "/notes/import/"):
        assert Client().post(path).status_code == 302


def test_an_empty_list_says_how_to_begin(browser):
    features = {"features": {"notes": {"enabled": True}}}
    store_application(
        slug="helper", title="Helper", is_public=True, manifest={**MANIFEST, **features}
    )

    response = browser.get("/notes/")

    assert response.context["is_empty"]
    assert '<a href="/chat/helper/" dir="auto">Helper</a>' in response.text


def test_many_notes_are_read_a_page_at_a_time(browser, owner, django_assert_max_num_queries):
    now = write("Newest", owner=owner).modified_at
    Note.objects.bulk_create(
        Note(owner=owner, title=f"n{n}", key=f"n{n}", created_at=now, modified_at=now)
        for n in range(500)
    )

    with django_assert_max_num_queries(26):
        response = browser.get("/notes/", {"page": "10"})

    assert len(shown(response)) == 50
    assert response.context["page"].paginator.count == 501


def test_a_note_is_written_and_read(browser, owner):
    form = sent(
        title="Boats",
        text="See [[Log]].\r\nTwo",
        tags="sea, work",
        fields_text="status = open\nlines: a\\nb\n",
    )

    response = browser.post("/notes/new/", form, follow=True)

    assert told(response) == ["Saved."]
    assert note_content(store.find_note(owner, "boats")) == NoteContent(
        "Boats", "See [[Log]].\nTwo", ("sea", "work"), {"status": "open", "lines": "a\nb"}
    )
    assert "See [[Log]]." in response.text
    write("Log", owner=owner)
    log = browser.get("/notes/open/", {"title": "LOG"}, follow=True)
    assert [one.title for one in log.context["backlinks"]] == ["Boats"]
    missing = browser.get("/notes/open/", {"title": "Not there"})
    assert missing.headers["Location"] == "/notes/new/?title=Not+there"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"title": "boats"}, "note titled &#x27;boats&#x27; already exists. Choose another title."),
        ({"title": "a|b"}, "contains [, ], | or a control character. Remove these"),
        ({"fields_text": "no value"}, "t a valid field. Write each field as name = value"),
        ({"fields_text": "a = 1\na = 2"}, "A: this field appears twice"),
        ({"fields_text": "1a = x"}, "ames must begin with a letter"),
        ({"text": "x" * 200_001}, "It has 200,001 characters"),
    ],
)
def test_what_is_not_fit_is_said_and_nothing_is_lost(browser, owner, given, words):
    write("Boats", owner=owner)

    response = browser.post("/notes/new/", {**sent(title="New", text="My words"), **given})

    assert response.status_code == 400
    assert words in response.text
    assert "text" in given or "My words" in response.text
    assert titles(owner) == ["Boats"]


def test_a_new_title_takes_links_along(browser, owner):
    note = write("Boats", "Old", owner=owner)
    write("Log", "[[Boats]]", owner=owner)

    browser.post(f"/notes/{note.pk}/edit/", sent(note, title="Ships", text="New"))

    assert titles(owner) == ["Log", "Ships"]
    assert text_of("Ships", owner) == "New"
    assert text_of("Log", owner) == "[[Ships]]"


@proves("D-47")
def test_who_is_slower_is_shown_both_texts_and_overwrites_nothing_unseen(browser, owner):
    seen = write("Plan", "One\nTwo", owner=owner)
    form = sent(seen, text="One\nMine")
    by_agent(owner, "Plan", "One\nTheirs")

    response = browser.post(f"/notes/{seen.pk}/edit/", form)

    assert response.status_code == 409
    assert response.context["conflict"]["who"] == "helper"
    lines = [(line.kind, line.text) for line in response.context["conflict"]["lines"]][1:]
    assert lines == [("same", "One"), ("removed", "Theirs"), ("added", "Mine")]
    assert text_of("Plan", owner) == "One\nTheirs"
    assert 'name="number" value="2"' in response.text
    browser.post(f"/notes/{seen.pk}/edit/", {**form, "number": 2})
    assert text_of("Plan", owner) == "One\nMine"
    assert [number for number, *_ in said(seen)] == [1, 2, 3]


def test_what_an_agent_changed_is_marked_and_undone(browser, owner):
    note = write("Plan", "Mine", owner=owner)
    write("Other", owner=owner)
    by_agent(owner, "Plan", "Changed")

    assert shown(browser.get("/notes/", {"show": "agents"})) == ["Plan"]
    assert '<strong dir="auto">helper</strong> changed' in browser.get(f"/notes/{note.pk}/").text
    stale = browser.post(f"/notes/{note.pk}/undo/", {"number": 1}, follow=True)
    assert told(stale) == [
        "The note has changed since you opened the page, so nothing was done. Check the current version."
    ]
    undone = browser.post(f"/notes/{note.pk}/undo/", {"number": 2}, follow=True)

    assert told(undone) == ["“Plan” was restored."]
    assert text_of("Plan", owner) == "Mine"
    assert shown(browser.get("/notes/", {"show": "agents"})) == []


def test_what_an_agent_wrote_or_deleted_is_undone(browser, owner):
    agent = Author(None, is_agent=True, application="helper")
    new = store.create(owner, NoteContent("New"), agent)
    gone = store.delete(write("Gone", "Text", owner=owner), agent)

    browser.post(f"/notes/{new.pk}/undo/", {"number": 1})
    browser.post(f"/notes/{gone.pk}/undo/", {"number": 2})

    assert titles(owner) == ["Gone"]
    assert shown(browser.get("/notes/", {"show": "deleted"})) == ["New"]


def test_deleted_notes_come_back_or_go_for_good(browser, owner):
    note = write("Plan", "Text", owner=owner)
    browser.post(f"/notes/{note.pk}/delete/", {"number": "9"})
    assert titles(owner) == ["Plan"]
    browser.post(f"/notes/{note.pk}/delete/", {"number": 1})
    assert titles(owner) == []
    assert browser.get(f"/notes/{note.pk}/").status_code == 404

    browser.post(f"/notes/{note.pk}/restore/", {"version": 2})
    assert text_of("Plan", owner) == "Text"
    assert browser.post(f"/notes/{note.pk}/forget/").status_code == 404
    browser.post(f"/notes/{note.pk}/delete/", {"number": 3})
    browser.post(f"/notes/{note.pk}/forget/")

    assert Note.objects.count() == 0


def test_the_history_shows_what_each_version_changed(browser, owner):
    note = write("Plan", "One", "sea", owner=owner)
    by_agent(owner, "Plan", "Two")

    response = browser.get(f"/notes/{note.pk}/history/")

    newest, first = response.context["versions"]
    assert (newest.agent, first.agent) == ("helper", "")
    assert [(line.kind, line.text) for line in newest.lines if line.kind != "place"] == [
        ("same", "Title: Plan"),
        ("removed", "Tags: sea"),
        ("same", ""),
        ("removed", "One"),
        ("added", "Two"),
    ]
    browser.post(f"/notes/{note.pk}/restore/", {"version": 1})
    assert note_content(store.find_note(owner, "Plan")) == NoteContent("Plan", "One", ("sea",))


def test_addresses_of_notes_are_told_for_links(browser, owner):
    note = write("Boats", owner=owner)
    write("Secret")

    response = browser.post("/notes/links/", {"title": ["boats", "Secret", "No"]})

    assert response.json() == {"known": {"boats": f"/notes/{note.pk}/"}}


def test_a_file_is_stored_and_linked(browser, owner):
    picture = SimpleUploadedFile("my plan (1).png", b"\x89PNG", "image/png")
    form = sent(title="Boats", text="Text")

    browser.post("/notes/new/", {**form, "file": picture})

    address = f"files/{owner}/notes/my%20plan%20%281%29.png"
    assert text_of("Boats", owner) == f"Text\n\n![my plan (1).png]({address})\n"
    response = browser.get(f"/{address}")
    assert (response.status_code, response.headers["Content-Type"]) == (200, "image/png")
    again = SimpleUploadedFile("my plan (1).png", b"other", "image/png")
    browser.post("/notes/new/", {**form, "title": "Again", "file": again})
    assert "my%20plan%20%281%29%202.png" in text_of("Again", owner)


@async_to_sync
async def content_of(response: Any) -> bytes:
    return b"".join([piece async for piece in response])


def test_notes_are_taken_along_and_brought_in(browser, owner):
    write("Boats", "Text", owner=owner)
    write("Of others")
    archive = BytesIO(content_of(browser.get("/notes/export/")))
    assert ZipFile(archive).namelist() == ["Boats.md"]
    store.change(store.find_note(owner, "Boats"), NoteContent("Boats", "Changed"), PERSON)

    file = SimpleUploadedFile("notes.zip", archive.getvalue())
    response = browser.post("/notes/import/", {"file": file}, follow=True)

    assert told(response) == ["0 new notes, 1 changed, 0 unchanged, 0 files."]
    assert text_of("Boats", owner) == "Text"
    broken = browser.post("/notes/import/", {"file": SimpleUploadedFile("x.zip", b"x")})
    assert broken.status_code == 400
    assert "Nothing was imported: it is not a ZIP archive." in broken.text
    assert browser.post("/notes/import/").status_code == 400


def test_a_question_begins_with_the_note(browser, owner):
    features = {"features": {"notes": {"enabled": True}}}
    store_application(
        slug="helper", title="Helper", is_public=True, manifest={**MANIFEST, **features}
    )
    note = write("Boats", "One\n\nTwo", owner=owner)
    other = write("Secret")

    page = browser.get("/chat/helper/", {"note": note.pk})

    assert page.context["draft"] == "About the note [[Boats]]:\n\n> One\n>\n> Two\n\n"
    assert page.context["has_notes"]
    assert browser.get("/chat/helper/", {"note": other.pk}).context["draft"] == ""
    assert not Client().get("/chat/helper/").context["has_notes"]
    assert 'href="/chat/helper/?note=' in browser.get(f"/notes/{note.pk}/").text


@proves("D-45")
@pytest.mark.parametrize(
    "path", ["", "edit/", "history/", "delete/", "restore/", "undo/", "forget/"]
)
def test_nobody_reaches_the_notes_of_others(browser, path):
    note = write("Secret", "Theirs")

    send = browser.get if path in ("", "edit/", "history/") else browser.post
    data = {"number": 1, "version": 1}
    assert send(f"/notes/{note.pk}/{path}", data).status_code == 404
    assert text_of("Secret") == "Theirs"


@proves("D-45")
def test_in_a_team_the_notes_are_those_of_the_team(browser, grace, owner):
    group = Group.objects.create(name="Crew")
    grace.groups.add(group)
    team = Team.objects.create(group=group)
    mine = write("Mine", owner=owner)
    browser.post("/teams/switch/", {"team": team.pk})
    picture = SimpleUploadedFile("a.png", b"x", "image/png")
    browser.post("/notes/new/", {**sent(title="Ours"), "file": picture})

    assert shown(browser.get("/notes/")) == ["Ours"]
    assert browser.get(f"/notes/{mine.pk}/").status_code == 404
    assert Note.objects.get(title="Ours").versions.get().user == grace
    file = f"/files/team-{team.pk}/notes/a.png"
    assert browser.get(file).status_code == 200
    browser.post("/teams/switch/", {"team": ""})
    assert shown(browser.get("/notes/")) == ["Mine"]
    assert browser.get(file).status_code == 404
    group.delete()
    assert not Note.objects.filter(title="Ours").exists()
