"""File names in archives of other programs."""

from __future__ import annotations

import struct
import unicodedata
import zlib
from io import BytesIO
from zipfile import ZipFile

import pytest

from apps.documents.archive import Archive
from apps.documents.zip_names import NamesUnreadable, named_entries
from tests.documents.raw_names import raw_archive


def archive_of(*names: str, encoding: str = "", extra: bytes = b"") -> ZipFile:
    if encoding:
        return ZipFile(raw_archive(dict.fromkeys(names, "x"), encoding, extra))
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return ZipFile(file)


def names_in(archive: ZipFile, otherwise: str | None = None) -> list[str]:
    found = list(named_entries(archive, otherwise))
    for _, entry in found:
        assert archive.read(entry) == b"x"
    return [name for name, _ in found]


@pytest.mark.parametrize("encoding", ["", "utf-8"])
def test_utf8_is_read_with_and_without_its_flag(encoding):
    names = ["Größe.md", "注意/読む.md", "notes/plain.md", "emoji 😀.md"]

    assert names_in(archive_of(*names, encoding=encoding)) == names


@pytest.mark.parametrize(
    ("encoding", "names"),
    [
        ("cp866", ["Заметки/Список покупок.md", "Заметки/План на неделю.md"]),
        ("cp1251", ["Заметки/Список покупок.md", "Заметки/План на неделю.md"]),
        ("cp932", ["メモ/買い物リスト.md", "メモ/会議の議事録.md"]),
        ("cp437", ["Größe und Gewicht.md", "Übersicht über Änderungen.md"]),
        ("cp850", ["Größe und Gewicht.md", "Übersicht über Änderungen.md"]),
    ],
)
def test_names_of_windows_are_read_by_their_letters(encoding, names):
    assert names_in(archive_of(*names, encoding=encoding)) == names


def test_names_of_an_unknown_encoding_are_not_read_wrongly():
    archive = archive_of("ÿþ¤¦.md", encoding="latin-1")

    with pytest.raises(NamesUnreadable):
        list(named_entries(archive))
    assert names_in(archive, "cp437") == ["ÿþ¤¦.md".encode("latin-1").decode("cp437")]


def unicode_path(name: str, other: bytes) -> bytes:
    field = struct.pack("<BL", 1, zlib.crc32(other)) + name.encode()
    return struct.pack("<HH", 0x7075, len(field)) + field


def test_the_name_in_an_extra_field_is_that_of_the_file():
    raw = "Öl.md".encode("cp1250")

    told = archive_of("Öl.md", encoding="cp1250", extra=unicode_path("Öl.md", raw))
    stale = archive_of("plain.md", encoding="ascii", extra=unicode_path("other.md", b"before"))

    assert names_in(told) == ["Öl.md"]
    assert names_in(stale) == ["plain.md"]


def test_names_are_composed_and_end_at_a_null():
    decomposed = unicodedata.normalize("NFD", "Größe.md")

    assert names_in(archive_of(decomposed)) == ["Größe.md"]
    assert names_in(archive_of("a.md\0.exe", encoding="ascii")) == ["a.md"]


def test_a_part_of_a_document_is_found_however_its_name_is_written():
    parts = raw_archive({"OPS/Größe.xhtml": "x"})

    archive = Archive(parts)

    assert "OPS/Größe.xhtml" in archive
    assert archive.read("OPS/Gro\u0308ße.xhtml") == b"x"
