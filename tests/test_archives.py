from __future__ import annotations

import struct
import tracemalloc
from io import BytesIO
from zipfile import BadZipFile, ZipFile

import pytest

from apps.archives import TooManyEntries, open_archive

ENTRY = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", *(0,) * 16)
END = "<4s4H2LH"


def archive_of(count: int) -> BytesIO:
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        archive.comment = b"holiday"
        for number in range(count):
            archive.writestr(f"folder/{number}.txt", f"text {number}")
    return file


def test_an_archive_is_opened_and_read():
    with open_archive(archive_of(3), 3) as archive:
        assert archive.read("folder/2.txt") == b"text 2"
        assert archive.comment == b"holiday"


def test_an_archive_with_too_many_entries_is_refused_before_they_are_parsed():
    count = 200_000
    directory = ENTRY * count
    claims_one = struct.pack(END, b"PK\x05\x06", 0, 0, 1, 1, len(directory), 0, 0)
    file = BytesIO(directory + claims_one)
    tracemalloc.start()

    with pytest.raises(TooManyEntries):
        open_archive(file, 1000)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * len(directory)
    with pytest.raises(TooManyEntries):
        open_archive(archive_of(4), 3)


def test_what_is_no_archive_is_refused_as_by_the_standard_library():
    for content in (b"", b"PK", ENTRY, ENTRY * 3 + b"PK\x05\x06"):
        with pytest.raises(BadZipFile):
            open_archive(BytesIO(content), 3)
