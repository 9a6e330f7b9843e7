"""Connections to SQLite are pooled between uses, in files of these tests."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, transaction
from django.db.utils import ConnectionHandler

from quickapps_site import service_urls
from quickapps_site.server.database_threads import DatabaseThreads
from quickapps_site.sqlite import base
from quickapps_site.sqlite.base import MOST, DatabaseWrapper, IdleConnections

pytestmark = pytest.mark.django_db
Databases = ConnectionHandler
WRITERS = 6
"""The default of `DATABASE_THREADS`."""
WRITES = 100
PATIENCE = 120


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "site.sqlite3"


@pytest.fixture
def databases(file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Databases]:
    kept = IdleConnections()
    monkeypatch.setattr(base, "_pool", kept)
    monkeypatch.setenv("SITE_DATABASE", f"sqlite:///{file}")
    yield ConnectionHandler({"default": service_urls.database("SITE_DATABASE", "")})
    kept.close()


def opened(databases: Databases) -> DatabaseWrapper:
    wrapper = databases.create_connection("default")
    assert isinstance(wrapper, DatabaseWrapper)
    wrapper.ensure_connection()
    return wrapper


def handed_on(databases: Databases, wrapper: DatabaseWrapper) -> bool:
    """Return True if the next request gets the same connection after this one ends."""
    before = wrapper.connection
    wrapper.close_if_unusable_or_obsolete()
    following = opened(databases)
    after = following.connection
    following.close()
    return after is before


def test_a_connection_is_handed_on_to_another_thread(databases: Databases) -> None:
    first = opened(databases)
    before = first.connection
    first.close_if_unusable_or_obsolete()

    found: list[Any] = []

    def look() -> None:
        second = opened(databases)
        with second.cursor() as cursor:
            cursor.execute("PRAGMA foreign_keys")
            found.extend([second.connection, cursor.fetchone()])
        second.close()

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()

    assert found == [before, (1,)]


def test_two_uses_at_a_time_have_a_connection_each(databases: Databases) -> None:
    one, other = opened(databases), opened(databases)

    assert one.connection is not other.connection
    one.close()
    other.close()


def test_a_connection_in_which_something_is_left_is_closed(databases: Databases) -> None:
    failed = opened(databases)
    with pytest.raises(OperationalError), failed.cursor() as cursor:
        cursor.execute("SELECT * FROM missing")
    begun = opened(databases)
    with begun.cursor() as cursor:
        cursor.execute("BEGIN")

    assert [handed_on(databases, one) for one in (failed, begun)] == [False, False]


def test_no_more_than_a_few_are_kept(databases: Databases) -> None:
    many = [opened(databases) for _ in range(MOST + 1)]
    connections = [one.connection for one in many]

    for one in many:
        one.close_if_unusable_or_obsolete()

    again = [opened(databases) for _ in range(MOST + 1)]
    assert [one.connection in connections for one in again] == [True] * MOST + [False]
    for one in again:
        one.close()


def test_a_file_that_took_the_place_of_another_is_opened(databases: Databases, file: Path) -> None:
    wrapper = opened(databases)
    with wrapper.cursor() as cursor:
        cursor.execute("CREATE TABLE old (id)")
    backup = file.with_name("backup")
    shutil.copy(file, backup)

    backup.replace(file)

    assert not handed_on(databases, wrapper)


def test_a_fork_does_not_use_the_connections_of_its_parent(databases: Databases) -> None:
    wrapper = opened(databases)
    before = wrapper.connection
    wrapper.close_if_unusable_or_obsolete()

    def look() -> None:
        raise SystemExit(opened(databases).connection is before)

    fork = get_context("fork").Process(target=look)
    fork.start()
    fork.join()

    assert fork.exitcode == 0


def test_what_is_written_stands_in_the_file_when_all_are_closed(
    databases: Databases, file: Path
) -> None:
    wrapper = opened(databases)
    with wrapper.cursor() as cursor:
        cursor.execute("CREATE TABLE new (id)")
    wrapper.close_if_unusable_or_obsolete()
    assert len(list(file.parent.iterdir())) > 1

    base._pool.close()

    assert [one.name for one in file.parent.iterdir()] == [file.name]


def test_the_database_threads_of_a_process_wait_for_each_others_writes(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transaction that reads before it writes, with single statements in between."""
    monkeypatch.setattr(transaction, "connections", databases)
    wrapper = opened(databases)
    with wrapper.cursor() as cursor:
        cursor.execute("CREATE TABLE counter (number INTEGER)")
        cursor.execute("INSERT INTO counter VALUES (0)")
        cursor.execute("CREATE TABLE line (writer INTEGER, number INTEGER)")
    wrapper.close()
    start = threading.Barrier(WRITERS)

    def write(writer: int) -> float:
        longest = 0.0
        start.wait(PATIENCE)
        for number in range(WRITES):
            began = time.monotonic()
            with transaction.atomic(), databases["default"].cursor() as cursor:
                ((before,),) = cursor.execute("SELECT number FROM counter").fetchall()
                cursor.execute("UPDATE counter SET number = %s", [before + 1])
            with databases["default"].cursor() as cursor:
                cursor.execute("INSERT INTO line VALUES (%s, %s)", [writer, number])
            databases["default"].close_if_unusable_or_obsolete()
            longest = max(longest, time.monotonic() - began)
        return longest

    with DatabaseThreads(WRITERS * 3 // 2) as threads:  # a third is reserved for other calls
        longest = list(threads.map(write, range(WRITERS), timeout=PATIENCE))

    wrapper = opened(databases)
    with wrapper.cursor() as cursor:
        counted = cursor.execute("SELECT number FROM counter").fetchone()
        lines = cursor.execute("SELECT count(*) FROM line").fetchone()
    wrapper.close()
    assert (counted, lines) == ((WRITERS * WRITES,), (WRITERS * WRITES,))
    assert max(longest) < databases["default"].settings_dict["OPTIONS"]["timeout"]
