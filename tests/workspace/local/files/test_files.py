from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest
from channels.db import database_sync_to_async
from django.core.files.base import ContentFile
from django.db import DatabaseError, connection

from apps.errors import FileRefused
from apps.workspace.local.files import files
from apps.workspace.local.files import storage as storage_module
from apps.workspace.local.files.caller_files import LocalFiles
from apps.workspace.local.files.directory_storage import DirectoryStorage
from apps.workspace.local.files.paths import write_path
from apps.workspace.local.models import StoredFile

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage"), pytest.mark.postgres]

MINE = LocalFiles("user-1")
ANOTHERS = LocalFiles("user-2")


class BusyStorage(DirectoryStorage):
    """Runs something else once, in the middle of an operation."""

    before_open: ClassVar[Callable[[], object] | None] = None
    after_put: ClassVar[Callable[[], object] | None] = None

    def open(self, name):
        happens, type(self).before_open = type(self).before_open, None
        if happens is not None:
            happens()
        return super().open(name)

    def put(self, name, pieces):
        super().put(name, pieces)
        happens, type(self).after_put = type(self).after_put, None
        if happens is not None:
            happens()


@pytest.fixture
def busy_storage(monkeypatch) -> type[BusyStorage]:
    monkeypatch.setattr(storage_module, "DirectoryStorage", BusyStorage)
    return BusyStorage


def stored_bytes(storage: Path) -> list[bytes]:
    return sorted(path.read_bytes() for path in storage.rglob("*") if path.is_file())


async def test_a_file_is_read_as_it_was_written():
    info = await MINE.keep("notes/to do.md", b"# To do", "text/markdown")

    found = await MINE.read("files/user-1/notes/to%20do.md")

    assert (found.content, found.info) == (b"# To do", info)
    assert (info.path, info.content_type, info.size, info.etag) == (
        "files/user-1/notes/to%20do.md",
        "text/markdown",
        7,
        hashlib.sha256(b"# To do").hexdigest(),
    )


async def test_writing_again_replaces_the_file_and_its_bytes(storage):
    await MINE.keep("a.txt", b"old", "text/plain")
    await MINE.keep("a.txt", b"new", "text/markdown")

    found = await MINE.read("files/user-1/a.txt")

    assert (found.content, found.info.content_type) == (b"new", "text/markdown")
    assert stored_bytes(storage) == [b"new"]


async def test_an_empty_file_is_a_file():
    await MINE.keep("empty", b"", "text/plain")

    assert (await MINE.read("files/user-1/empty")).content == b""


async def test_a_file_of_somebody_else_is_as_one_that_does_not_exist():
    await MINE.keep("a.txt", b"mine", "text/plain")
    said = []

    for path in ("files/user-1/a.txt", "files/user-2/a.txt"):
        for attempt in (ANOTHERS.read, ANOTHERS.delete):
            with pytest.raises(FileRefused) as caught:
                await attempt(path)
            said.append(str(caught.value).replace("user-1", "user-2"))

    assert set(said) == {"The file 'files/user-2/a.txt' does not exist, or you have no access."}
    assert (await MINE.read("files/user-1/a.txt")).content == b"mine"


async def test_the_same_name_is_another_file_in_another_bucket():
    await MINE.keep("a.txt", b"mine", "text/plain")
    await ANOTHERS.keep("a.txt", b"theirs", "text/plain")

    assert (await MINE.read("files/user-1/a.txt")).content == b"mine"
    assert (await ANOTHERS.read("files/user-2/a.txt")).content == b"theirs"


async def test_files_are_listed_by_their_path_and_never_those_of_others():
    for name in ("notes/b.md", "Notes/c.md", "notes/a b.md", "other.md"):
        await MINE.keep(name, b"", "text/markdown")
    await ANOTHERS.keep("notes/theirs.md", b"", "text/markdown")

    listed = [info.path for info in await MINE.list("files/user-1/notes/")]
    everything = await MINE.list("files/user-1/", is_deep=True)

    assert listed == ["files/user-1/notes/a%20b.md", "files/user-1/notes/b.md"]
    assert len(everything) == 4


async def test_a_deleted_file_is_gone_with_its_bytes(storage):
    await MINE.keep("a.txt", b"a", "text/plain")

    await MINE.delete("files/user-1/a.txt")

    with pytest.raises(FileRefused):
        await MINE.read("files/user-1/a.txt")
    assert (await MINE.list("files/user-1/", is_deep=True), stored_bytes(storage)) == ([], [])


async def test_a_file_over_the_limit_is_refused_before_anything_is_stored(settings, storage):
    settings.DEFAULT_FILE_LOADING_SIZE_LIMIT = 4

    await MINE.keep("a", b"1234", "text/plain")
    with pytest.raises(FileRefused, match="is 5 bytes; the limit is 4"):
        await MINE.keep("b", b"12345", "text/plain")

    assert stored_bytes(storage) == [b"1234"]


@pytest.mark.parametrize("name", ["../a.txt", "/etc/passwd", "a//b", "", "a\x00b"])
async def test_names_that_lead_elsewhere_are_refused(name, storage):
    with pytest.raises(FileRefused):
        await MINE.keep(name, b"a", "text/plain")

    assert stored_bytes(storage) == []


async def test_nobody_has_no_files():
    nobody = LocalFiles("")

    with pytest.raises(FileRefused):
        await nobody.keep("a.txt", b"a", "text/plain")
    with pytest.raises(FileRefused):
        await nobody.list("files//")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("text/plain; charset=utf-8", "text/plain; charset=utf-8"),
        ("", "application/octet-stream"),
        ("text", "application/octet-stream"),
        ("text/html\r\nX-Evil: 1", "application/octet-stream"),
        ("a/" + "b" * 300, "application/octet-stream"),
    ],
)
async def test_a_type_that_is_none_is_unknown(given, kept):
    assert (await MINE.keep("a", b"a", given)).content_type == kept


async def test_a_write_that_fails_half_way_leaves_the_old_file_and_no_bytes(storage):
    await MINE.keep("a.txt", b"old", "text/plain")

    def refuses(execute, sql, *rest):
        if sql.startswith("UPDATE"):
            raise DatabaseError("the disk is full")
        return execute(sql, *rest)

    def write() -> None:
        with connection.execute_wrapper(refuses), pytest.raises(DatabaseError):
            files.keep("user-1", "a.txt", b"new", "text/plain")

    await database_sync_to_async(write)()

    assert (await MINE.read("files/user-1/a.txt")).content == b"old"
    assert stored_bytes(storage) == [b"old"]


async def test_a_file_that_is_replaced_while_it_is_read_is_read_anew(busy_storage):
    await MINE.keep("a.txt", b"old", "text/plain")
    busy_storage.before_open = lambda: files.keep("user-1", "a.txt", b"new", "text/plain")

    assert (await MINE.read("files/user-1/a.txt")).content == b"new"


async def test_a_file_that_is_deleted_while_it_is_read_is_missing(busy_storage):
    await MINE.keep("a.txt", b"old", "text/plain")
    busy_storage.before_open = lambda: files.delete("user-1", "files/user-1/a.txt")

    with pytest.raises(FileRefused):
        await MINE.read("files/user-1/a.txt")


@pytest.mark.parametrize("is_new", [True, False])
async def test_two_writes_at_once_leave_one_whole_file(busy_storage, storage, is_new):
    if not is_new:
        await MINE.keep("a.txt", b"old", "text/plain")
    busy_storage.after_put = lambda: files.keep("user-1", "a.txt", b"quick", "text/plain")

    info = await MINE.keep("a.txt", b"slow", "text/plain")

    found = await MINE.read("files/user-1/a.txt")
    assert (found.content, found.info) == (b"slow", info)
    assert stored_bytes(storage) == [b"slow"]


async def test_a_file_whose_bytes_are_lost_is_missing_and_the_log_says_so(caplog):
    await MINE.keep("a.txt", b"a", "text/plain")
    row = await StoredFile.objects.aget()
    storage_module.storage().delete(row.storage_name)

    with pytest.raises(FileRefused):
        await MINE.read("files/user-1/a.txt")

    assert "The file 'files/user-1/a.txt' is missing from storage" in caplog.text


async def test_what_operators_share_is_read_by_everybody_and_written_by_nobody():
    shared = "files/public/guides/travel.txt"
    await database_sync_to_async(files.share)(
        "guides/travel.txt", ContentFile(b"Take a coat."), "text/plain"
    )

    found = await ANOTHERS.read(shared)
    listed = await LocalFiles("").list("files/public/guides/")
    await ANOTHERS.copy(shared, "files/user-2/travel.txt")

    assert (found.content, found.info.path) == (b"Take a coat.", shared)
    assert listed == [found.info]
    assert (await ANOTHERS.read("files/user-2/travel.txt")).content == b"Take a coat."
    with pytest.raises(FileRefused):
        await ANOTHERS.write(shared, b"mine", "text/plain")
    with pytest.raises(FileRefused):
        await ANOTHERS.move(shared, "files/user-2/b.txt")
    with pytest.raises(FileRefused):
        await ANOTHERS.delete(shared)
    assert (await MINE.read(shared)).content == b"Take a coat."


NFC, NFD = "Bl\u00fcte.txt", "Blu\u0308te.txt"


def names_of(bucket: str) -> list[str]:
    return sorted(StoredFile.objects.filter(bucket=bucket).values_list("name", flat=True))


@pytest.mark.parametrize("forms", [(NFC, NFD), (NFD, NFC)])
def test_a_name_in_two_forms_is_one_file(forms):
    for number, name in enumerate(forms):
        files.keep("user-1", f"in/{name}", str(number).encode(), "text/plain")

    assert names_of("user-1") == [f"in/{NFC}"]
    for name in forms:
        assert files.read("user-1", write_path("user-1", f"in/{name}")).content == b"1"


def test_direction_marks_are_not_stored():
    info = files.keep("user-1", "re\u202etxt.exe", b"a", "text/plain")
    files.move("user-1", info.path, "files/user-1/%E2%80%AEgpj.exe", overwrite=False)

    assert info.path == "files/user-1/retxt.exe"
    assert names_of("user-1") == ["gpj.exe"]


def test_a_name_of_direction_marks_alone_is_refused():
    with pytest.raises(FileRefused, match="the name is empty"):
        files.keep("user-1", "\u202e", b"a", "text/plain")


def test_a_file_from_before_keeps_its_name():
    files.keep("user-1", "old", b"1", "text/plain")
    StoredFile.objects.filter(bucket="user-1").update(name=f"{NFD}/{NFD}")

    info = files.keep("user-1", f"{NFD}/{NFD}", b"2", "text/plain")

    assert names_of("user-1") == [f"{NFD}/{NFD}"]
    assert files.read("user-1", info.path).content == b"2"
    assert files.listing("user-1", write_path("user-1", NFD), is_deep=False) == [info]
