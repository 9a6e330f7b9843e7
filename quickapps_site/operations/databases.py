"""Makes a consistent copy of a PostgreSQL or SQLite database in one file, and loads such copies."""

import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import CommandError
from django.db import connection, transaction
from psycopg.conninfo import make_conninfo

from apps.workspace.local.models import StoredFile

DUMP_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")


@dataclass(frozen=True, slots=True)
class DatabaseCopy:
    """A copy of the database."""

    path: Path
    cursor: Any
    """Reads the copied snapshot, until the context manager exits."""
    tables: dict[str, int]
    """The number of rows by table."""

    def migrations(self) -> list[tuple[str, str]]:
        self.cursor.execute("SELECT app, name FROM django_migrations ORDER BY id")
        return [(app, name) for app, name in self.cursor.fetchall()]

    def storage_names(self) -> Iterator[str]:
        name = connection.ops.quote_name(StoredFile._meta.db_table)
        self.cursor.execute(f"SELECT storage_name FROM {name} ORDER BY storage_name")  # noqa: S608
        while rows := self.cursor.fetchmany(1000):
            yield from (name for (name,) in rows)


@contextmanager
def copy_database(folder: Path) -> Iterator[DatabaseCopy]:
    """Copy the database into a file in `folder`, and yield the copy. Raises `CommandError` if this
    fails.
    """
    copy = copy_postgresql if connection.vendor == "postgresql" else copy_sqlite
    with copy(folder / "database") as found:
        yield found


@contextmanager
def copy_sqlite(path: Path) -> Iterator[DatabaseCopy]:
    # All pages are copied in one step. This does not block writers, which use the write-ahead log.
    source = f"file:{Path(settings.DATABASES['default']['NAME']).absolute().as_uri()[7:]}?mode=ro"
    with (
        closing(sqlite3.connect(source, uri=True)) as database,
        closing(sqlite3.connect(path, isolation_level=None)) as copy,
    ):
        database.backup(copy)
        copy.execute(
            "PRAGMA journal_mode=DELETE"
        )  # This mode results in one file, without a log next to it.
        cursor = copy.cursor()
        names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        tables = [name for (name,) in cursor.execute(names).fetchall()]
        yield DatabaseCopy(path, cursor, count_rows(cursor, tables))


@contextmanager
def copy_postgresql(path: Path) -> Iterator[DatabaseCopy]:
    """Copy a PostgreSQL database with pg_dump into a file, and yield the copy. Raises
    `CommandError` if pg_dump fails.
    """
    program = client_program("pg_dump")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute("SELECT pg_export_snapshot()")
        [snapshot] = cursor.fetchone()
        run_client(
            *(program, "--format=custom", "--no-owner", "--no-privileges"),
            *(f"--snapshot={snapshot}", f"--file={path}"),
        )
        tables = connection.introspection.table_names(cursor)
        yield DatabaseCopy(path, cursor, count_rows(cursor, tables))


def count_rows(cursor: Any, tables: list[str]) -> dict[str, int]:
    found = {}
    for table in tables:
        cursor.execute(f"SELECT COUNT(*) FROM {connection.ops.quote_name(table)}")  # noqa: S608
        [found[table]] = cursor.fetchone()
    return found


def check_copy(path: Path, vendor: str) -> None:
    """Raise `CommandError` if the database programs on this machine cannot load the copy in `path`."""
    if vendor == "postgresql":
        run_client(client_program("pg_restore"), "--list", str(path), connects=False)
        return
    try:
        with closing(sqlite3.connect(path)) as copy:
            [[found], *_] = copy.execute("PRAGMA quick_check").fetchall()
    except sqlite3.Error as error:
        found = str(error)
    if found != "ok":
        raise CommandError(f"The archive's database is damaged: {found}.")


def load_database(path: Path) -> None:
    """Load a copy into the empty database, completely or not at all. Raises `CommandError` if this
    fails.
    """
    if connection.vendor == "postgresql":
        connection.close()
        run_client(
            *(client_program("pg_restore"), "--single-transaction", "--exit-on-error"),
            *("--no-owner", "--no-privileges", str(path)),
        )
        return
    connection.ensure_connection()
    with closing(sqlite3.connect(path)) as copy:
        copy.backup(connection.connection)
    connection.close()


# --- PostgreSQL's programs --------------------------------------------------------------------


def client_program(name: str) -> str:
    """Return the path of a PostgreSQL client program for the server's version. Raises
    `CommandError` if none is installed.
    """
    connection.ensure_connection()
    needed: int = connection.pg_version // 10_000  # type: ignore[attr-defined]  # of this backend
    advice = (
        f"Install the client programs of PostgreSQL {needed} or newer (on Debian and Ubuntu: "
        f"postgresql-client-{needed}) on this machine."
    )
    if (program := shutil.which(name)) is None:
        raise CommandError(f"{name} is not installed. {advice}")
    said = run([program, "--version"], dict(os.environ))
    found = DUMP_VERSION.search(said)
    if found is None or int(found[1]) < needed:
        raise CommandError(
            f"{said.strip()} is older than the server, PostgreSQL {needed}. {advice}"
        )
    return program


def run_client(*command: str, connects: bool = True) -> None:
    """Run a PostgreSQL client program. It connects to the database if `connects` is True. Raises
    `CommandError` if it fails.
    """
    if not connects:
        run(list(command), dict(os.environ))
        return
    database = connection.settings_dict
    options: dict[str, Any] = {
        name: value for name, value in database["OPTIONS"].items() if name != "pool"
    }
    names = {"dbname": "NAME", "user": "USER", "host": "HOST", "port": "PORT"}
    options |= {name: database[key] for name, key in names.items() if database[key]}
    # The process list shows arguments, so passwords are passed in the environment.
    environment = dict(os.environ)
    if database["PASSWORD"]:
        environment["PGPASSWORD"] = database["PASSWORD"]
    program, *arguments = command
    run([program, f"--dbname={make_conninfo(**options)}", *arguments], environment)


def run(command: list[str], environment: dict[str, str]) -> str:
    """Run a command, and return its output. Raises `CommandError` if it fails."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise CommandError(f"{Path(command[0]).name} failed: {done.stderr.strip()}")
    return done.stdout
