"""Loads a copy of an SQLite database into PostgreSQL."""

import sqlite3
from contextlib import closing
from pathlib import Path

from django.apps import apps
from django.core.management import CommandError, call_command
from django.core.management.color import no_style
from django.db import DataError, connection, transaction
from django.db.migrations.loader import MigrationLoader
from procrastinate.contrib.django import app

from apps.tasks.models import QueuedJob
from quickapps_site.operations.archive import Header

RECORDED = "django_migrations"
"""The table of applied migrations. It is not copied, because a PostgreSQL database has additional
migrations.
"""
QUEUE = "procrastinate"
"""The app whose migrations an SQLite database does not have."""


def changes_engine(header: Header) -> bool:
    """Return True if the archive is of an SQLite database and this installation uses PostgreSQL."""
    return (header.vendor, connection.vendor) == ("sqlite", "postgresql")


def check_version(header: Header) -> None:
    """Raise `CommandError` if the archive's database lacks migrations. They cannot be applied while
    the database is being loaded.
    """
    known = {one for one in MigrationLoader(None).disk_migrations if one[0] != QUEUE}
    if missing := sorted(known - set(header.migrations)):
        raise CommandError(
            f"The archive's SQLite database has not been migrated to this version ({'.'.join(missing[0])} "
            "is missing). Upgrade the old installation to this version, and back it up again."
        )


def load_sqlite(path: Path) -> None:
    """Create the tables in the empty database, and copy all rows in one transaction. Raises
    `CommandError` if a row cannot be read, or PostgreSQL rejects it.
    """
    # Only an installation on PostgreSQL has Procrastinate.

    call_command("migrate", interactive=False, verbosity=0)
    try:
        with closing(sqlite3.connect(path)) as copy, transaction.atomic():
            tables = shared_tables(copy)
            # `migrate` has added content types and permissions, which the copy also contains.
            connection.ops.execute_sql_flush(
                connection.ops.sql_flush(no_style(), tables, allow_cascade=True)
            )
            for table in tables:
                copy_rows(copy, table)
            reset_sequences()
            adopt_embedded_jobs()
    except (DataError, sqlite3.Error) as error:
        raise CommandError(
            f"The SQLite database could not be loaded into PostgreSQL: {error}. Create the PostgreSQL "
            "database again before you retry."
        ) from error


def shared_tables(copy: sqlite3.Connection) -> list[str]:
    found = copy.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    names = {name for (name,) in found}
    return sorted(names.intersection(connection.introspection.table_names()) - {RECORDED})


def copy_rows(copy: sqlite3.Connection, table: str) -> None:
    """Copy the rows of a table. Values are sent as text, which PostgreSQL converts to the type of
    the column.
    """
    theirs = {name for _, name, *_ in copy.execute(f'PRAGMA table_info("{table}")')}
    with connection.cursor() as cursor:
        described = connection.introspection.get_table_description(cursor, table)
        columns = ", ".join(f'"{one.name}"' for one in described if one.name in theirs)
        rows = copy.execute(f'SELECT {columns} FROM "{table}"')  # noqa: S608 - names of the schema
        with cursor.copy(f'COPY "{table}" ({columns}) FROM STDIN') as target:
            for row in rows:
                target.write_row(row)


def reset_sequences() -> None:
    models = [one for one in apps.get_models(include_auto_created=True) if one._meta.managed]
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)


def adopt_embedded_jobs() -> None:
    """Move queued and interrupted jobs from the embedded queue's table to Procrastinate, and delete
    failed jobs.
    """
    for row in QueuedJob.objects.exclude(status=QueuedJob.Status.FAILED).order_by("pk"):
        lock = row.lock or None
        app.configure_task(
            row.task,
            priority=row.priority,
            schedule_at=row.run_after,
            lock=lock,
            queueing_lock=lock if row.status == QueuedJob.Status.READY else None,
        ).defer(**row.arguments)
    QueuedJob.objects.all().delete()
