"""Both storages fulfil the contract of the protocol."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from apps.workspace.local.files.file_storage import FileStorage
from apps.workspace.local.files.storage import storage
from tests.measuring.process_memory import MEBIBYTE, most_more

STARTS = pytest.mark.slow("the first one starts SeaweedFS")
BIG = 100 * MEBIBYTE
MOST_MORE = 20 * MEBIBYTE
"""The memory in bytes that a file of 100 MiB may take."""


@pytest.fixture(params=["directory", pytest.param("bucket", marks=[pytest.mark.full, STARTS])])
def files(request: Any, settings: Any, tmp_path: Path) -> FileStorage:
    settings.MEDIA_ROOT = tmp_path
    if request.param == "bucket":
        request.getfixturevalue("bucket")
    return storage()


def read(files: FileStorage, name: str) -> bytes:
    with files.open(name) as content:
        found = content.whole()
        assert len(found) == content.size
    return found


async def whole(pieces: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in pieces])


def blocks(size: int) -> Iterator[bytes]:
    block = bytes(range(256)) * 256
    for _ in range(size // len(block)):
        yield block


def test_a_file_is_read_as_it_was_stored(files):
    files.put("ab/one", iter((b"Os", b"", b"lo")))

    assert (read(files, "ab/one"), files.exists("ab/one")) == (b"Oslo", True)


def test_an_empty_file_is_a_file(files):
    files.put("ab/empty", [])

    assert (read(files, "ab/empty"), files.exists("ab/empty")) == (b"", True)


def test_a_file_is_replaced_as_a_whole(files):
    files.put("ab/one", [b"a longer text"])
    files.put("ab/one", [b"short"])

    assert read(files, "ab/one") == b"short"


def test_a_deleted_file_is_missing_and_can_be_deleted_again(files):
    files.put("ab/one", [b"x"])

    files.delete("ab/one")
    files.delete("ab/one")

    assert not files.exists("ab/one")
    with pytest.raises(FileNotFoundError), files.open("ab/one"):
        pass


async def test_a_part_has_the_bytes_between_its_ends(files):
    files.put("ab/one", [b"0123456789"])

    parts = [await whole(files.part("ab/one", *ends)) for ends in ((0, 10), (2, 5), (9, 10))]

    assert parts == [b"0123456789", b"234", b"9"]
    assert await whole(files.part("ab/one", 0, 0)) == b""
    with pytest.raises(FileNotFoundError):
        await whole(files.part("ab/none", 0, 1))


def test_entries_come_in_the_order_of_their_names(files):
    before = datetime.now(UTC) - timedelta(minutes=1)
    for name, content in (("ff/2", b"xx"), ("installation.id", b"x"), ("aa/1", b"")):
        files.put(name, [content])

    found = list(files.entries())

    assert [(one.name, one.size) for one in found] == [
        ("aa/1", 0),
        ("ff/2", 2),
        ("installation.id", 1),
    ]
    assert all(before < one.modified_at < before + timedelta(minutes=2) for one in found)


def test_a_storage_that_was_never_used_is_empty(files):
    assert list(files.entries()) == []


@pytest.mark.parametrize(
    "name",
    ["", "/etc/passwd", "../x", "a/../x", "a//b", "a/", ".hidden", "a\\b", "a\0b", "ä", "x" * 201],
)
def test_a_hostile_name_is_refused_everywhere(files, name):
    calls = (
        lambda: files.put(name, [b"x"]),
        lambda: read(files, name),
        lambda: files.exists(name),
        lambda: files.delete(name),
    )

    for call in calls:
        with pytest.raises(ValueError, match="is not a valid name of a stored file"):
            call()
    assert list(files.entries()) == []


@pytest.mark.parametrize("size", [0, 3 * MEBIBYTE, 12 * MEBIBYTE])
def test_an_upload_that_breaks_off_leaves_nothing(files, size, request):
    def broken() -> Iterator[bytes]:
        yield from blocks(size)
        raise ConnectionResetError("the client went away")

    with pytest.raises(ConnectionResetError):
        files.put("ab/one", broken())

    assert list(files.entries()) == []
    if files.location.startswith("s3://"):
        assert request.getfixturevalue("server").unfinished_uploads() == []


def test_two_writes_at_once_leave_one_whole_file(files):
    contents = [bytes([number]) * 6 * MEBIBYTE for number in range(2)]

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda content: files.put("ab/one", [content]), contents))

    assert read(files, "ab/one") in contents


@pytest.mark.full
@pytest.mark.slow("stores and reads 100 MiB")
async def test_a_large_file_takes_little_memory_in_either_direction(files):
    expected = sha256(b"".join(blocks(MEBIBYTE)) * 100).hexdigest()

    with most_more(os.getpid()) as up:
        files.put("ab/big", blocks(BIG))
    digest, again = sha256(), sha256()
    with most_more(os.getpid()) as down:
        async for piece in files.part("ab/big", 0, BIG):
            digest.update(piece)
    with most_more(os.getpid()) as opened, files.open("ab/big") as content:
        for piece in content.chunks:
            again.update(piece)

    assert (digest.hexdigest(), again.hexdigest()) == (expected, expected)
    assert [more for more in (*up, *down, *opened) if more > MOST_MORE] == []
