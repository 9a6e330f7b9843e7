"""A running site is backed up and restored elsewhere; invalid archives and targets are refused."""

from __future__ import annotations

import io
import json
import sqlite3
import stat
import tarfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest

from tests.databases.postgresql import address_of, create, database, drop
from tests.servers import seaweedfs
from tests.servers.seaweedfs import KEY_ID, SECRET
from tests.services import absence
from tests.sites.serving import DATABASE, Site, close_shell, empty_site, new_site, running
from tests.sites.websocket import PageSocket, visitor_cookie

PREPARE = """
from apps.accounts.models import ApiKey
from apps.workspace.local.models import Secret
Secret.objects.create(name="stored", value="said-to-nobody")
row, key = ApiKey.objects.create_key(name="uploads")
result = [f"key-{row.prefix}", key]
"""
READ_BACK = """
import hashlib
from apps.workspace.local.files.storage import storage
from apps.workspace.local.models import Secret, StoredFile
wrong = []
for row in StoredFile.objects.all():
    with storage().open(row.storage_name) as content:
        if hashlib.sha256(content.whole()).hexdigest() != row.etag:
            wrong.append(row.name)
result = [wrong, StoredFile.objects.count(), Secret.objects.get(name="stored").value]
"""
SECRET_KEY = "a key of tests that encrypts 0123456789"


@contextmanager
def activity(*steps: Any) -> Iterator[list[BaseException]]:
    """Repeat each step in a thread during the block, at least once before it. Yields the failures."""
    over, begun = threading.Event(), threading.Barrier(len(steps) + 1)
    failures: list[BaseException] = []

    def repeat(step: Any) -> None:
        try:
            step()
            begun.wait(60)
            while not over.is_set():
                step()
        except BaseException as error:  # noqa: BLE001 - the test reports it
            failures.append(error)
            begun.abort()

    threads = [threading.Thread(target=repeat, args=(step,)) for step in steps]
    for thread in threads:
        thread.start()
    try:
        begun.wait(60)
        yield failures
    finally:
        over.set()
        for thread in threads:
            thread.join()


def upload(site: Site, bucket: str, key: str, name: str, content: bytes) -> None:
    head = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
    request = Request(
        f"{site.url}/v1/files/{bucket}/{name}",
        head + content + b"\r\n--edge--\r\n",
        {"api-key": key, "content-type": "multipart/form-data; boundary=edge"},
        method="PUT",
    )
    urlopen(request, timeout=60).close()


def check_round_trip(tmp_path: Path, here: dict[str, str], there: dict[str, str]) -> None:
    """Back up a busy site with the settings `here`, and restore it into one with those `there`."""
    archive = tmp_path / "backup.tar"
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    site = new_site(tmp_path / "here", SECRET_KEY=SECRET_KEY, **here)
    with running(site):
        site.manage("import_content")
        bucket, key = site.shell(PREPARE)
        upload(site, bucket, key, "first.txt", b"the first file")
        cookie = visitor_cookie(site.url, "demo")
        page = PageSocket(site.url, "demo", cookie)
        conversation = page.ask("A question before the backup")
        page.until("message.complete")

        def ask() -> None:
            page.ask("A question during the backup")
            page.until("message.complete")

        def send() -> None:
            upload(site, bucket, key, f"{uuid4()}.txt", b"x" * 100_000)

        with activity(ask, send) as failures:
            said = site.manage("backup", str(archive))
        page.close()
    assert failures == []
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup.tar", "here", "there"]

    restored = empty_site(tmp_path / "there", SECRET_KEY=SECRET_KEY, **there)
    told = restored.manage("restore", str(archive))
    with running(restored):
        wrong, files, secret = restored.shell(READ_BACK)
        request = Request(f"{restored.url}/v1/files/{bucket}/first.txt", headers={"api-key": key})
        first = urlopen(request, timeout=60).read()
        request = Request(f"{restored.url}/chat/demo/{conversation}/", headers={"cookie": cookie})
        shown = urlopen(request, timeout=60).read().decode()
        urlopen(f"{restored.url}/readyz", timeout=60).close()  # the files are registered as its own

    assert (wrong, secret) == ([], "said-to-nobody")
    assert files >= 2
    assert f"{files} files" in said
    assert f"{files} files" in told
    assert first == b"the first file"
    assert "A question before the backup" in shown


@pytest.mark.slow("serves two sites in processes of their own")
@pytest.mark.full
def test_a_backup_of_a_busy_site_is_restored_elsewhere(tmp_path: Path) -> None:
    check_round_trip(tmp_path, {}, {})


@pytest.mark.slow("serves two sites and SeaweedFS in processes of their own")
@pytest.mark.full
def test_a_backup_of_a_busy_site_with_a_bucket_is_restored_into_another_one(tmp_path: Path) -> None:
    with seaweedfs.served() as server:
        keys = {"FILES_ACCESS_KEY_ID": KEY_ID, "FILES_SECRET_ACCESS_KEY": SECRET}
        here, there = ({"FILES_URL": server.new_address(), **keys} for _ in range(2))
        check_round_trip(tmp_path, here, there)


@pytest.mark.slow("serves two sites in processes of their own")
def test_a_backup_of_a_busy_site_on_postgresql_is_restored_elsewhere(tmp_path: Path) -> None:
    if reason := absence("postgres"):
        pytest.skip(reason)
    target = f"site_{uuid4().hex[:12]}"
    with database() as source:
        create(target)
        try:
            check_round_trip(
                tmp_path,
                {"DATABASE_URL": address_of(source)},
                {"DATABASE_URL": address_of(target)},
            )
        finally:
            drop(target)


# --- What is refused --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a backup of a small site that is not served."""
    folder = tmp_path_factory.mktemp("source")
    site = new_site(folder, SECRET_KEY=SECRET_KEY)
    bucket, _ = site.shell(PREPARE)
    site.shell(
        "from apps.workspace.local.files import files\n"
        "files.keep(bucket, 'first.txt', b'the first file', 'text/plain')",
        bucket=bucket,
    )
    site.manage("backup", str(folder / "backup.tar"))
    close_shell(site)
    return folder / "backup.tar"


@contextmanager
def place(folder: Path, **settings: str) -> Iterator[Site]:
    site = empty_site(folder, **{"SECRET_KEY": SECRET_KEY, **settings})
    try:
        yield site
    finally:
        close_shell(site)


def refusal(site: Site, archive: Path, *options: str) -> str:
    """Return the error of `restore`. It must leave no tables and no files."""
    code = """
        from django.core.management import CommandError, call_command
        try:
            call_command("restore", *arguments)
        except CommandError as error:
            from django.db import connection
            result = [str(error), connection.introspection.table_names()]
        """
    told, tables = site.shell(code, arguments=[str(archive), *options])
    folder = Path(site.environment["DATA_DIR"])
    left = [path for path in folder.rglob("*") if path.is_file()]
    names = {path.name for path in left if path.suffix not in {".key", ".tar"}}
    assert (tables, names - {DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"}) == ([], set())
    return str(told)


def rewritten(archive: Path, target: Path, change: Any) -> Path:
    """Return a copy of the archive, with its list of members changed by `change`."""
    with tarfile.open(archive) as source, tarfile.open(target, "w") as copy:
        found = [(one, source.extractfile(one).read()) for one in source]  # type: ignore[union-attr]
        for member, content in change(found):
            copy.addfile(member, io.BytesIO(content))
    return target


def cut_off(archive: Path, target: Path) -> Path:
    content = archive.read_bytes()
    target.write_bytes(content[: len(content) // 2])
    return target


def flipped(archive: Path, target: Path) -> Path:
    content = bytearray(archive.read_bytes())
    content[content.index(b"the first file")] ^= 1
    target.write_bytes(content)
    return target


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname = kind, target
    return found


def with_second(added: tarfile.TarInfo) -> Any:
    def change(archive: Path, target: Path) -> Path:
        return rewritten(archive, target, lambda found: [*found[:2], (added, b""), *found[2:]])

    return change


def without_end(archive: Path, target: Path) -> Path:
    return rewritten(archive, target, lambda found: found[:-1])


def text(archive: Path, target: Path) -> Path:
    target.write_text("This is no archive.\n" * 100)
    return target


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (cut_off, "Part of it is missing."),
        (flipped, "Its content does not match its checksum."),
        (without_end, "It ends before contents.json, so part of it is missing."),
        (text, "It cannot be read as a tar archive."),
        (
            with_second(member("files/../../outside")),
            "It has an unexpected member 'files/../../outside'.",
        ),
        (
            with_second(member("/tmp/outside")),
            "It has an unexpected member '/tmp/outside'.",
        ),
        (
            with_second(member("files/aa/link", tarfile.SYMTYPE, "/etc/passwd")),
            "Its member 'files/aa/link' is not a regular file.",
        ),
    ],
    ids=["cut off", "a byte", "no end", "text", "upwards", "absolute", "link"],
)
def test_a_damaged_archive_is_refused_before_anything_is_touched(
    archive: Path, tmp_path: Path, damage: Any, reason: str
) -> None:
    damaged = damage(archive, tmp_path / "damaged.tar")

    with place(tmp_path) as site:
        told = refusal(site, damaged)

    assert told == f"{damaged} cannot be restored. {reason}"


def newer(**changes: Any) -> Any:
    def change(found: list[tuple[tarfile.TarInfo, bytes]]) -> list[tuple[tarfile.TarInfo, bytes]]:
        (header, content), *rest = found
        changed = json.dumps({**json.loads(content), **changes}).encode()
        header.size = len(changed)
        return [(header, changed), *rest]

    return change


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"version": "99.0.0"}, "99.0.0"),
        ({"format": 2}, "0.2.0"),
        (
            {"migrations": [["catalog", "0999_later"]]},
            "0.2.0, with migrations such as catalog.0999_later",
        ),
    ],
)
def test_an_archive_of_a_newer_version_is_refused(
    archive: Path, tmp_path: Path, changes: dict[str, Any], named: str
) -> None:
    changed = rewritten(archive, tmp_path / "newer.tar", newer(**changes))

    with place(tmp_path) as site:
        told = refusal(site, changed)

    assert told == (
        f"The archive was made by a newer version of QuickApps ({named}) than this one (0.2.0). "
        "Update this installation first."
    )


def test_other_keys_are_refused_unless_secrets_are_given_up(archive: Path, tmp_path: Path) -> None:
    with place(tmp_path, SECRET_KEY="another key") as site:
        told = refusal(site, archive)
        site.manage("restore", str(archive), "--without-secrets")
        found = site.shell("result = [ApiKey.objects.count(), Secret.objects.get().value]")

    assert told.startswith(
        "The archive was made with another SECRET_KEY or SALT_KEY. Set the keys of the old installation"
    )
    assert found == [1, ""]


def test_a_key_among_the_fallbacks_is_enough(archive: Path, tmp_path: Path) -> None:
    with place(tmp_path, SECRET_KEY="newer", SECRET_KEY_FALLBACKS=f"old,{SECRET_KEY}") as site:
        site.manage("restore", str(archive))
        found = site.shell("result = Secret.objects.get().value")

    assert found == "said-to-nobody"


@pytest.mark.slow("restores a backup")
def test_secrets_that_fit_no_key_are_named(tmp_path: Path) -> None:
    """The fingerprint is that of the newest key, but an older key still encrypts a stored secret."""
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    site = new_site(tmp_path / "here", SECRET_KEY="older")
    site.shell(PREPARE)
    close_shell(site)
    keys = {"SECRET_KEY": SECRET_KEY, "SECRET_KEY_FALLBACKS": "older"}
    rotated = empty_site(tmp_path / "here", **keys)
    rotated.manage("backup", str(tmp_path / "backup.tar"))
    close_shell(rotated)

    code = """
        from django.core.management import CommandError, call_command
        try:
            call_command("restore", file)
        except CommandError as error:
            result = [str(error), ApiKey.objects.count()]
        """
    with place(tmp_path / "there") as restored:
        told, rows = restored.shell(code, file=str(tmp_path / "backup.tar"))

    assert told.startswith(
        "Everything is restored, but 1 stored secrets are unreadable with these keys: "
        "workspace.Secret 1. Add their old keys to SECRET_KEY_FALLBACKS"
    )
    assert rows == 1


def test_a_database_with_tables_is_refused(archive: Path, tmp_path: Path) -> None:
    site = new_site(tmp_path, SECRET_KEY=SECRET_KEY)
    before = (tmp_path / DATABASE).read_bytes()

    with pytest.raises(AssertionError, match="CommandError: The database is not empty"):
        site.manage("restore", str(archive))
    close_shell(site)

    assert (tmp_path / DATABASE).read_bytes() == before


def test_a_folder_with_files_is_refused(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "files" / "aa").mkdir(parents=True)
    (tmp_path / "files" / "aa" / "old.key").write_text("old")

    with place(tmp_path) as site:
        told = refusal(site, archive)

    assert told.startswith(f"There are files in {tmp_path / 'files'}. Restore into empty storage")


def test_a_file_that_exists_is_not_overwritten(archive: Path, tmp_path: Path) -> None:
    site = new_site(tmp_path, SECRET_KEY=SECRET_KEY)
    (tmp_path / "backup.tar").write_text("older")

    with pytest.raises(AssertionError, match="already exists; choose another name"):
        site.manage("backup", str(tmp_path / "backup.tar"))
    close_shell(site)

    assert (tmp_path / "backup.tar").read_text() == "older"


def test_files_that_are_gone_are_reported_and_a_failure_leaves_nothing(tmp_path: Path) -> None:
    site = new_site(tmp_path, SECRET_KEY=SECRET_KEY)
    out = tmp_path / "out"
    out.mkdir()
    code = """
        import io
        from django.core.management import CommandError, call_command
        from apps.workspace.local.files import files
        from apps.workspace.local.models import StoredFile
        from apps.workspace.local.files.storage import storage
        files.keep("somebody", "a.txt", b"a", "text/plain")
        files.keep("somebody", "b.txt", b"b", "text/plain")
        storage().delete(StoredFile.objects.get(name="a.txt").storage_name)
        said, told = io.StringIO(), io.StringIO()
        call_command("backup", file, stdout=said, stderr=told)
        path = storage().path(StoredFile.objects.get(name="b.txt").storage_name)
        storage().delete(StoredFile.objects.get(name="b.txt").storage_name)
        import os
        os.mkdir(path)
        try:
            call_command("backup", file + ".2")
        except CommandError as error:
            failure = str(error)
        result = [said.getvalue(), told.getvalue(), failure]
        """
    said, told, failure = site.shell(code, file=str(out / "backup.tar"))
    close_shell(site)

    assert said.endswith("rows, 1 files.\n")
    assert told.startswith("1 files are in the database but no longer in the storage.")
    assert failure.startswith("The backup could not be written: ")
    assert [path.name for path in out.iterdir()] == ["backup.tar"]


def test_an_archive_has_no_key_in_plain(archive: Path) -> None:
    assert SECRET_KEY.encode() not in archive.read_bytes()
    with tarfile.open(archive) as found:
        assert found.getnames()[:2] == ["backup.json", "database"]
        assert found.getnames()[-1] == "contents.json"


def test_the_copy_of_the_database_is_whole(archive: Path, tmp_path: Path) -> None:
    with tarfile.open(archive) as found:
        content = found.extractfile("database")
        assert content is not None
        (tmp_path / "copy").write_bytes(content.read())

    with closing(sqlite3.connect(tmp_path / "copy")) as copy:
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
