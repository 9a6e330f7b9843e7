"""Restore the database and the files of a backup into an empty installation. See docs/backup.md."""

import shutil
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from apps.migration_history import upgrade_problem
from apps.workspace.local.files.storage import storage
from apps.workspace.local.installation import ROW, Installation, write_marker
from quickapps_site.operations import keys
from quickapps_site.operations.archive import (
    DATABASE,
    FILES,
    FORMAT,
    Contents,
    DamagedArchive,
    Header,
    members,
    open_regular,
    read_chunks,
    read_header,
    verify,
)
from quickapps_site.operations.databases import check_copy, count_rows, load_database
from quickapps_site.operations.engine_change import changes_engine, check_version, load_sqlite
from quickapps_site.operations.known_migrations import known_migrations
from quickapps_site.operations.termination import termination_raises
from quickapps_site.operations.version import product_version, version_numbers

OTHER_KEYS = (
    "The archive was made with another SECRET_KEY or SALT_KEY. Set the keys of the old installation "
    "(without the setting, the key is in DATA_DIR/secret.key there), or add them to "
    "SECRET_KEY_FALLBACKS and SALT_KEY. If they are lost, --without-secrets restores everything "
    "else; stored credentials and second factors then have to be set up again."
)
VENDORS = {"postgresql": "PostgreSQL", "sqlite": "SQLite"}
MOST_NAMED = 20
"""The maximum number of unreadable secrets that the message names."""


class Command(BaseCommand):
    help = "Restore an archive of `backup` into an empty database and an empty file storage."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="An archive created by `backup`.")
        parser.add_argument(
            "--without-secrets",
            action="store_true",
            help="Restore even if no SECRET_KEY matches; stored secrets remain unreadable.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            with termination_raises(), open_regular(path) as file:
                header = read_header(file)
                check_header(header, without_secrets=options["without_secrets"])
                check_emptiness()
                contents = verify(file)
                check_space(path.stat().st_size)
                stored = load(file, header)
        except DamagedArchive as error:
            raise CommandError(f"{path} cannot be restored. {error}") from error
        except OSError as error:
            raise CommandError(f"The backup could not be restored: {error}") from error
        if not changes_engine(header):
            check_counts(contents)
        if problem := upgrade_problem(connection):
            raise CommandError(f"The backup was restored, but it is from an old version. {problem}")
        call_command("migrate", interactive=False, verbosity=0)
        if row := Installation.objects.filter(pk=ROW).first():
            write_marker(row, storage())
        self.stdout.write(
            f"Restored {sum(contents.tables.values())} rows and {stored} files of {header.made_at}."
        )
        if contents.missing_files:
            self.stderr.write(f"{contents.missing_files} files were missing in the backup already.")
        self.check_secrets(is_expected=options["without_secrets"])

    def check_secrets(self, *, is_expected: bool) -> None:
        """Raise `CommandError` if stored secrets cannot be decrypted. If `is_expected` is True,
        only write a warning.
        """
        unreadable = list(keys.unreadable_secrets())
        if not unreadable:
            return
        named = ", ".join(unreadable[:MOST_NAMED]) + (", …" if unreadable[MOST_NAMED:] else "")
        text = f"{len(unreadable)} stored secrets are unreadable with these keys: {named}."
        if not is_expected:
            raise CommandError(
                f"Everything is restored, but {text} Add their old keys to SECRET_KEY_FALLBACKS and "
                "SALT_KEY, or enter them again."
            )
        self.stderr.write(text)


def check_header(header: Header, *, without_secrets: bool) -> None:
    """Raise `CommandError` if this installation cannot restore the archive, or `DamagedArchive` if
    the header is invalid.
    """
    ours = product_version()
    try:
        is_newer = header.format > FORMAT or version_numbers(header.version) > version_numbers(ours)
    except ValueError:
        raise DamagedArchive("Its header has no version.") from None
    unknown = sorted({*header.migrations} - known_migrations())
    if is_newer or unknown:
        detail = f", with migrations such as {'.'.join(unknown[0])}" if unknown else ""
        raise CommandError(
            f"The archive was made by a newer version of QuickApps ({header.version}{detail}) than this one "
            f"({ours}). Update this installation first."
        )
    if changes_engine(header):
        check_version(header)
    elif header.vendor != connection.vendor:
        theirs, here = (VENDORS.get(name, name) for name in (header.vendor, connection.vendor))
        raise CommandError(
            f"The archive contains a {theirs} database, but DATABASE_URL refers to a {here} database. "
            f"Set DATABASE_URL to an empty {theirs} database."
        )
    if not without_secrets and not keys.fits(header.keys):
        raise CommandError(OTHER_KEYS)


def check_emptiness() -> None:
    """Raise `CommandError` if the database or the file storage is not empty."""
    if connection.introspection.table_names():
        raise CommandError(
            "The database is not empty. Restore into an empty database: set "
            "DATABASE_URL or DATA_DIR to a new location. Do not run `migrate` or "
            "`serve` there first."
        )
    if next(storage().entries(), None) is not None:
        raise CommandError(
            f"There are files in {storage().location}. Restore into empty storage: set DATA_DIR "
            "to a new folder, or FILES_URL to another bucket or prefix."
        )


def check_space(size: int) -> None:
    """Raise `CommandError` if the disk lacks space for an archive of `size` bytes.

    While the database is being loaded, it takes up twice its size. This is ignored, because the
    database is rarely the larger part of an archive.
    """
    if settings.FILES_URL:
        return  # The files are stored elsewhere.
    free = shutil.disk_usage(settings.VAR_DIR).free
    if free < size:
        raise CommandError(
            f"The archive is {size:,} bytes, but only {free:,} are free in {settings.VAR_DIR}. Free some space."
        )


def load(file: IO[bytes], header: Header) -> int:
    """Restore an archive's files and database, or neither. Return the number of files."""
    saved: set[str] = set()
    try:
        with tempfile.TemporaryDirectory(dir=settings.VAR_DIR) as folder:
            database = Path(folder) / DATABASE
            for member, content in members(file):
                if member.name == DATABASE:
                    with database.open("wb") as copy:
                        copy.writelines(read_chunks(content))
                    check_copy(database, header.vendor)
                elif member.name.startswith(FILES):
                    name = member.name.removeprefix(FILES)
                    if name in saved:
                        raise DamagedArchive(f"It has the file {name!r} more than once.")
                    storage().put(name, read_chunks(content))
                    saved.add(name)
            load_sqlite(database) if changes_engine(header) else load_database(database)
    except BaseException:
        for name in saved:
            storage().delete(name)
        raise
    return len(saved)


def check_counts(contents: Contents) -> None:
    """Raise `CommandError` if the number of rows in a table differs from `contents.json`."""
    with connection.cursor() as cursor:
        present = [*{*connection.introspection.table_names(cursor)} & {*contents.tables}]
        found = count_rows(cursor, present)
    if wrong := sorted(name for name, rows in contents.tables.items() if found.get(name) != rows):
        raise CommandError(
            f"Restored tables have more or fewer rows than in the backup: {', '.join(wrong)}. "
            "Empty the database and the file storage, and try again."
        )
