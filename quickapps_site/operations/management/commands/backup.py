"""Write the database and the stored files into one file, while the site is running. See
docs/backup.md.
"""

import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import IO, Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.utils import timezone

from apps.workspace.local.files.file_storage import is_storage_name
from apps.workspace.local.files.storage import storage
from quickapps_site.operations import keys
from quickapps_site.operations.archive import (
    DATABASE,
    FILES,
    FORMAT,
    HEADER,
    ArchiveWriter,
    Header,
    new_file,
    read_chunks,
)
from quickapps_site.operations.databases import DatabaseCopy, copy_database
from quickapps_site.operations.known_migrations import known_migrations
from quickapps_site.operations.termination import termination_raises
from quickapps_site.operations.version import product_version

MOST_NAMED = 20
"""The maximum number of missing files that the warning names."""


class Command(BaseCommand):
    help = "Write the database and the stored files into one archive while the server runs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="The archive to create, such as backup.tar.")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"].absolute()
        if path.exists():
            raise CommandError(f"{path} already exists; choose another name.")
        if not connection.introspection.table_names():
            raise CommandError("The database has no tables, so there is nothing to back up.")
        try:
            with (
                termination_raises(),
                new_file(path) as file,
                tempfile.TemporaryDirectory(dir=path.parent) as folder,
                copy_database(Path(folder)) as copy,
            ):
                stored, missing = write(file, copy)
        except OSError as error:
            raise CommandError(f"The backup could not be written: {error}") from error
        self.stdout.write(f"{path}: {sum(copy.tables.values())} rows, {stored} files.")
        if missing:
            named = ", ".join(missing[:MOST_NAMED]) + (", …" if missing[MOST_NAMED:] else "")
            self.stderr.write(
                f"{len(missing)} files are in the database but no longer in the storage. They were "
                f"deleted during the backup, or were missing before: {named}"
            )


def write(file: IO[bytes], copy: DatabaseCopy) -> tuple[int, list[str]]:
    """Write a backup into a file. Return the number of stored files, and the names of files that
    the storage lacks.
    """
    archive = ArchiveWriter(file)
    known = known_migrations()
    header = Header(
        format=FORMAT,
        version=product_version(),
        made_at=timezone.now().isoformat(timespec="seconds"),
        vendor=connection.vendor,
        migrations=[one for one in copy.migrations() if one in known],
        keys=keys.fingerprint(),
    )
    archive.add_json(HEADER, header)
    with copy.path.open("rb") as database:
        archive.add(DATABASE, read_chunks(database), copy.path.stat().st_size)
    stored, missing = 0, []
    # The files follow the database, because content is stored before its row, and is never
    # overwritten.
    for name in copy.storage_names():
        try:
            if not is_storage_name(name):
                raise FileNotFoundError(name)
            with storage().open(name) as content:
                archive.add(FILES + name, content.chunks, content.size)
        except FileNotFoundError:
            missing.append(name)
        else:
            stored += 1
    archive.close(copy.tables, len(missing))
    return stored, missing
