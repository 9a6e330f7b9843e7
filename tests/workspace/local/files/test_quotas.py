"""Storage limits per owner, and the paths of files in the bucket."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from apps.accounts.caller import Caller
from apps.errors import FileMissing, FileRefused
from apps.workspace.local.files import store
from apps.workspace.local.files.caller_files import LocalFiles
from apps.workspace.local.workspace import LocalWorkspace

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage"), pytest.mark.postgres]

MINE = LocalFiles("user-1")
ANOTHERS = LocalFiles("user-2")


def stored(storage: Path) -> list[bytes]:
    return sorted(path.read_bytes() for path in storage.rglob("*") if path.is_file())


async def test_bytes_are_counted_for_each_owner_and_nothing_remains_of_what_was_too_much(
    settings: Any, storage: Path
):
    settings.FILES_MAX_BYTES_PER_USER = 10
    await MINE.keep("a.txt", b"123456", "text/plain")
    await ANOTHERS.keep("a.txt", b"1234567890", "text/plain")

    with pytest.raises(FileRefused) as refused:
        await MINE.keep("b.txt", b"12345", "text/plain")

    assert str(refused.value) == (
        "Your files would take up 11 bytes; the limit is 10. Delete some that you no longer need."
    )
    assert stored(storage) == [b"123456", b"1234567890"]
    with pytest.raises(FileMissing):
        await MINE.info("files/user-1/b.txt")


async def test_what_replaces_a_file_is_counted_in_its_place(settings: Any, storage: Path):
    settings.FILES_MAX_BYTES_PER_USER = 10
    await MINE.keep("a.txt", b"1234567890", "text/plain")
    await MINE.keep("a.txt", b"abcdefghij", "text/plain")

    with pytest.raises(FileRefused):
        await MINE.keep("a.txt", b"abcdefghijk", "text/plain")
    with pytest.raises(FileRefused):
        await MINE.copy("files/user-1/a.txt", "files/user-1/b.txt")
    settings.FILES_MAX_BYTES_PER_USER = 5
    await MINE.keep("a.txt", b"abcdefgh", "text/plain")
    await MINE.move("files/user-1/a.txt", "files/user-1/b.txt")

    assert stored(storage) == [b"abcdefgh"]


async def test_files_are_counted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(store, "MOST_FILES", 2)
    for name in ("a", "b", "b"):
        await MINE.keep(name, b"", "text/plain")

    with pytest.raises(FileRefused) as refused:
        await MINE.write("files/user-1/c", b"", "text/plain", is_new=True)

    assert str(refused.value) == (
        "You already have the maximum number of files (2). Delete some that you no longer need."
    )
    await MINE.delete("files/user-1/a")
    await MINE.keep("c", b"", "text/plain")


async def test_of_many_writers_at_once_only_those_get_through_that_have_room(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(store, "MOST_FILES", 3)

    outcomes = await asyncio.gather(
        *(MINE.keep(f"{n}.txt", b"1", "text/plain") for n in range(8)), return_exceptions=True
    )

    assert sum(isinstance(outcome, FileRefused) for outcome in outcomes) == 5
    assert len(await MINE.list("files/user-1/")) == 3


async def test_a_caller_may_work_in_a_folder_of_the_bucket():
    caller = Caller("user-1", folder="conversations/7 a/")
    files = LocalWorkspace(caller).files

    kept = await files.keep("plan.md", b"1", "text/plain")

    assert await files.home() == "files/user-1/conversations/7%20a/"
    assert kept.path == "files/user-1/conversations/7%20a/plan.md"
    assert [entry.path for entry in await files.list(await files.home())] == [kept.path]
    assert (await MINE.read(kept.path)).content == b"1"
