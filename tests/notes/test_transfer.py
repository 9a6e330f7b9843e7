"""D-46, D-50: notes are exported and imported as a folder of Markdown files; other folders are
refused."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from datetime import UTC, datetime
from io import BytesIO, StringIO
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZipFile, ZipInfo

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.accounts.caller import bucket_of
from apps.notes import store
from apps.notes.content import NoteContent, check_content, note_content
from apps.notes.errors import NoteRefused
from apps.notes.models import Note, NoteVersion
from apps.notes.store import notes_of
from apps.notes.transfer import sources
from apps.notes.transfer.document import read_note_document, write_document
from apps.notes.transfer.note_export import export_notes, file_name, write_zip
from apps.notes.transfer.note_import import ImportedNotes, import_notes
from apps.notes.transfer.sources import open_zip
from apps.workspace.local.files import files
from tests.contract import proves
from tests.documents.raw_names import raw_archive
from tests.notes.written import OTHER, OWNER, PERSON, said, text_of, titles, write
from tests.tables import each_row

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

NOON = datetime(2026, 11, 2, 12, 30, 5, 123456, UTC)


def packed(entries: Mapping[str, bytes | str]) -> BytesIO:
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        for name, content in entries.items():
            archive.writestr(ZipInfo(name), content)
    file.seek(0)
    return file


def imported(entries: Mapping[str, bytes | str], owner: str = OWNER) -> ImportedNotes:
    return import_notes(owner, open_zip(packed(entries)), PERSON)


def everything(owner: str) -> list[Any]:
    rows = notes_of(owner).order_by("key")
    return [(note_content(note), note.created_at, note.modified_at) for note in rows]


@proves("D-50")
def test_all_notes_go_there_and_back_with_their_files():
    picture = f"![](files/{OWNER}/notes/plan%20a.png)"
    write("A: plan", f"\n{picture}\n\n[[Log]] ", "sea", "yes", colour="no", size="01")
    write("a/plan")
    write("Log", "---\ntitle: Not this\n---\nText\n\n")
    Note.objects.filter(key="log").update(created_at=NOON, modified_at=NOON)
    files.keep(OWNER, "notes/plan a.png", b"picture", "image/png")
    files.keep(OWNER, "other/private.txt", b"x", "text/plain")
    file = BytesIO()
    before = everything(OWNER)

    assert write_zip(OWNER, file) == 4
    assert sorted(ZipFile(file).namelist()) == [
        "A- plan.md",
        "Log.md",
        "a-plan.md",
        "attachments/plan a.png",
    ]
    assert b"![](attachments/plan%20a.png)" in ZipFile(file).read("A- plan.md")
    Note.objects.all().delete()
    files.delete_below(OWNER, "notes/")
    done = import_notes(OWNER, open_zip(file), PERSON)

    assert done == ImportedNotes(new=3, files=1)
    assert everything(OWNER) == before
    assert files.read(OWNER, f"files/{OWNER}/notes/plan%20a.png").content == b"picture"
    assert import_notes(OWNER, open_zip(file), PERSON) == ImportedNotes(same=3, files=1)
    import_notes(OTHER, open_zip(file), PERSON)
    assert text_of("A: plan", OTHER) == f"\n![](files/{OTHER}/notes/plan%20a.png)\n\n[[Log]] "


words = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=40)


@settings(max_examples=100, deadline=None)
@given(
    words,
    st.lists(words, max_size=3),
    st.dictionaries(st.from_regex(r"\A[a-z][\w.-]{0,9}\Z"), words),
)
def test_any_note_is_the_same_after_a_file(text, tags, fields):
    try:
        content = check_content(NoteContent(f"A {text}", f"---\n{text}", tuple(tags), fields))
    except NoteRefused:
        return
    note = Note(
        title=content.title,
        text=content.text,
        tags=list(content.tags),
        fields=dict(content.fields),
        created_at=NOON,
        modified_at=NOON,
    )

    found = read_note_document("x.md", write_document(note, content.text).encode())
    assert (found.content, found.created, found.modified) == (content, NOON, NOON)


def test_files_of_other_programs_are_read():
    done = imported(
        {
            "vault/Boats.md": "\ufeffJust text\r\n",
            "vault/deep/plan.md": "---\ntags: sea, log\nstatus: open\naliases: [a, b]\n---\nPlan",
            "vault/.obsidian/app.json": "{}",
            "vault/picture.gif": "x",
        }
    )

    assert done == ImportedNotes(new=2, left_out=1)
    assert note_content(store.find_note(OWNER, "boats")) == NoteContent("Boats", "Just text\n")
    assert note_content(store.find_note(OWNER, "plan")) == NoteContent(
        "plan", "Plan", ("sea", "log"), {"status": "open", "aliases": "a, b"}
    )


def test_a_note_that_is_there_gets_a_version():
    note = write("Boats", "Old")

    assert imported({"Boats.md": "New"}) == ImportedNotes(changed=1)
    assert said(note) == [(1, "created", "Boats", False), (2, "imported", "Boats", False)]


REFUSED: list[tuple[dict[str, bytes | str], str]] = [
    ({"../evil.md": "x"}, r"\.\./evil\.md: its path is outside of the folder"),
    ({"/etc/evil.md": "x"}, "/etc/evil.md: its path is outside"),
    ({"a\\..\\b.md": "x"}, "its path is outside"),
    ({"C:/b.md": "x"}, "its path is outside"),
    ({"a.md": b"\xff\xfe"}, "a.md: it is not UTF-8"),
    ({"a.md": "---\ntitle: [x\n---\n"}, "a.md: its front matter is not valid YAML"),
    ({"a.md": "---\ntitle: &a x\nb: *a\n---\n"}, "a.md: its front matter line 2: anchors"),
    ({"a.md": "---\ncreated: never\n---\n"}, "a.md: created: 'never' can’t be used"),
    (
        {"a.md": "---\ncreated: 0001-01-01T00:00:00+14:00\n---\n"},
        r"a.md: created: '0001-01-01T00:00:00\+14:00' can’t be used. Enter a date from 1900 to 2199",
    ),
    (
        {"a.md": "---\nmodified: 9999-12-31T23:59:59-14:00\n---\n"},
        "a.md: modified: '9999-12-31T23:59:59-14:00' can’t be used. Enter a date from 1900 to 2199",
    ),
    ({"a.md": "---\ntags: {a: b}\n---\n"}, "a.md: tags: must be a list of strings"),
    (
        {"a.md": "---\nfields: [a]\n---\n"},
        "a.md: fields: must be an object whose values are strings",
    ),
    ({"a.md": "---\nBig Name: a\n---\n"}, "a.md: fields.Big Name: names must begin"),
    ({"a.md": "x" * 200_001}, "a.md: text: it has 200,001 characters"),
    ({"a.md": "x", "b/A.md": "y"}, "b/A.md: it has the same title as a.md"),
    ({"Größe.md": "x", "Gro\u0308ße.md": "y"}, "two files in the archive have the same name"),
    ({"a.md": "x", "a\u202e.md": "y"}, "two files in the archive have the same name"),
    ({"\x01.md": "x"}, r"its title|title: "),
    ({"a" * 60_000 + ".md": "x"}, "title: "),
    (
        {"a.md": "x", "attachments/" + "a" * 300: "x"},
        "a segment of it is too long; the limit is 255 bytes",
    ),
    ({"a.txt": "x"}, "it contains no Markdown files"),
    ({"a.md": "x", "attachments/a\tb": "x"}, "attachments/a\tb: .*control characters"),
]


def test_what_is_no_folder_of_notes_is_refused_with_the_name_of_the_file(subtests):
    for entries, words in REFUSED:
        with subtests.test(words), pytest.raises(NoteRefused, match=words):
            imported({"first.md": "x", **entries} if "a.txt" not in entries else entries)
    assert titles() == []


def test_names_that_macos_and_windows_write_become_titles():
    files: dict[str, bytes | str] = {
        "Größe.md": "![](attachments/Fläche.png)",
        "attachments/Fläche.png": b"png",
    }

    assert import_notes(OWNER, open_zip(raw_archive(files)), PERSON) == ImportedNotes(
        new=1, files=1
    )
    in_russian = raw_archive({"Заметки на неделю.md": "x", "Список покупок.md": "y"}, "cp866")
    import_notes(OTHER, open_zip(in_russian), PERSON)

    assert titles() == ["Größe"]
    assert titles(OTHER) == ["Заметки на неделю", "Список покупок"]
    with pytest.raises(NoteRefused, match="the file names have an unknown encoding"):
        open_zip(raw_archive({"ÿþ¤¦.md": "x"}, "latin-1"))


def test_what_is_no_archive_is_refused():
    with pytest.raises(NoteRefused, match="it is not a ZIP archive"):
        open_zip(BytesIO(b"no archive"))


def test_a_broken_archive_is_refused():
    content = packed({"a.md": "x" * 100}).getvalue().replace(b"x" * 100, b"y" * 100)

    with pytest.raises(NoteRefused, match=r"a\.md: it cannot be unpacked"):
        import_notes(OWNER, open_zip(BytesIO(content)), PERSON)


@each_row("kind", [ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA])
def test_an_archive_with_a_damaged_packing_is_refused(kind: int):
    file = BytesIO()
    with ZipFile(file, "w", kind) as archive:
        archive.writestr("a.md", "all sorts of words " * 50)
    content = bytearray(file.getvalue())
    start = content.index(b"a.md") + len("a.md")
    content[start + 4 : start + 30] = b"\xff" * 26

    with pytest.raises(NoteRefused, match=r"a\.md: it cannot be unpacked"):
        import_notes(OWNER, open_zip(BytesIO(bytes(content))), PERSON)


def test_a_link_in_an_archive_is_refused():
    entry = ZipInfo("a.md")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        archive.writestr(entry, "/etc/passwd")

    with pytest.raises(NoteRefused, match=r"a\.md: it is a link to another file"):
        open_zip(file)


def test_what_grows_when_it_is_unpacked_is_given_up(monkeypatch):
    monkeypatch.setattr(sources, "LARGEST", 1_000)
    with pytest.raises(NoteRefused, match=r"bomb\.md: it is too large"):
        imported({"bomb.md": "0" * 2_000})

    source = open_zip(packed({"a.md": "0" * 600, "b.md": "0" * 600}))
    source.allowance.left = 1_000
    with pytest.raises(
        NoteRefused, match=r"b\.md: the files are too large in total; the limit is 256 MB"
    ):
        import_notes(OWNER, source, PERSON)
    monkeypatch.setattr(sources, "MOST_FILES", 1)
    with pytest.raises(NoteRefused, match="there are 2 files; the limit is 1"):
        imported({"a.md": "", "b.md": ""})


def test_names_of_files_are_such_as_all_file_systems_have():
    taken: set[str] = set()

    assert [file_name(t, taken) for t in ("a/b", "A:B", "...", "x" * 200, "é" * 200)] == [
        "a-b.md",
        "A-B 2.md",
        "note.md",
        f"{'x' * 120}.md",
        f"{'é' * 60}.md",
    ]


@proves("D-50")
def test_commands_write_and_read_a_folder(tmp_path, django_user_model):
    ada = django_user_model.objects.create_user("ada")
    owner = bucket_of(ada.pk)
    write("Boats", f"![](files/{owner}/notes/a.png)", owner=owner)
    write("Of others")
    files.keep(owner, "notes/a.png", b"x", "image/png")
    said = StringIO()

    call_command("export_notes", tmp_path / "new", user="ada", stdout=said)
    Note.objects.filter(owner=owner).delete()
    (tmp_path / "new" / "link.md").symlink_to("/etc/passwd")
    call_command("import_notes", tmp_path / "new", user="ada", stdout=said)

    assert said.getvalue() == (
        "Files written: 2.\nNew: 1, changed: 0, unchanged: 0, files: 1, left out: 0.\n"
    )
    assert [note.title for note in notes_of(owner)] == ["Boats"]
    assert [name for name, _ in export_notes(owner)] == ["Boats.md", "attachments/a.png"]
    assert [str(row.user) for row in NoteVersion.objects.filter(note__owner=owner)] == ["ada"]
    with pytest.raises(CommandError, match="is not empty"):
        call_command("export_notes", tmp_path / "new", user="ada")
    with pytest.raises(CommandError, match="Unknown user: 'bob'"):
        call_command("export_notes", tmp_path / "x", user="bob")
    with pytest.raises(CommandError, match="Unknown team: 'Crew'"):
        call_command("import_notes", tmp_path, team="Crew")
