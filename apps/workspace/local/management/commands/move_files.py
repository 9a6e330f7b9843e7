"""Copy the stored files from a directory into a bucket, or back. See docs/file-storage.md."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.workspace.local.files.bucket_address import ACCEPTED
from apps.workspace.local.files.file_copies import CopyOutcome, CopyReport, DamagedCopy, copy_files
from apps.workspace.local.files.file_storage import FileStorage
from apps.workspace.local.files.storage import storage_at
from apps.workspace.local.installation import ROW, Installation, read_marker, write_marker

DIRECTORY = "directory"
MOST_NAMED = 20
"""Up to this many lost files are listed by name."""


class Command(BaseCommand):
    help = (
        "Copy the stored files to another storage location while the server runs. Run it again after you "
        "change FILES_URL: it continues where it stopped, and copies files that were stored in the meantime. "
        "Nothing is deleted in the source."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        accepted = f"{DIRECTORY} for the folder in DATA_DIR, or {ACCEPTED}"
        parser.add_argument("source", help=accepted)
        parser.add_argument("target", help="as for the source")
        parser.add_argument(
            "--verify-all",
            action="store_true",
            help="also compare the checksums of files that already exist in the target",
        )

    def handle(self, *, source: str, target: str, verify_all: bool, **options: Any) -> None:
        row = Installation.objects.filter(pk=ROW).first()
        if row is None:
            raise CommandError("This installation has no ID yet. Start the server first.")
        here, there = find_storage(source), find_storage(target)
        if here.location == there.location:
            raise CommandError(
                "The source and the target are the same storage. Choose another target."
            )
        try:
            check_owner(row, there)
            report = CopyReport()
            for report in copy_files(here, there, verify_all=verify_all):
                self.stdout.write(describe_report(report))
            write_marker(row, there)
        except (OSError, ValueError, DamagedCopy) as error:
            raise CommandError(f"{error}\nRun the command again to continue.") from error
        self.conclude(report, here, there)

    def conclude(self, report: CopyReport, here: FileStorage, there: FileStorage) -> None:
        self.stdout.write(
            f"{here.location} was copied to {there.location}; nothing was deleted there."
        )
        if report.lost:
            more = ", …" if report.lost[MOST_NAMED:] else ""
            self.stderr.write(
                "These files are in the database, but were missing in the source or have changed: "
                f"{', '.join(report.lost[:MOST_NAMED])}{more}"
            )
        if storage_at(settings.FILES_URL).location != there.location:
            self.stdout.write(
                "Now set FILES_URL to the target, restart all processes, and run this command again."
            )


def find_storage(address: str) -> FileStorage:
    """Return the storage at a URL. Raises `CommandError` if the URL is invalid."""
    try:
        return storage_at("" if address == DIRECTORY else address or "-")
    except ValueError:
        raise CommandError(
            f"{address!r} is not the URL of a storage location; use {DIRECTORY}, or {ACCEPTED}."
        ) from None


def check_owner(row: Installation, files: FileStorage) -> None:
    """Raise `CommandError` if the storage belongs to another installation, and `OSError` or
    `ValueError` if its marker file cannot be read.
    """
    if read_marker(files) not in ("", str(row.uuid)):
        raise CommandError(
            f"{files.location} contains the files of another installation. Choose an empty storage location."
        )


def describe_report(report: CopyReport) -> str:
    counts = ", ".join(
        f"{report.files[one]:,} {one.value}" for one in CopyOutcome if report.files[one]
    )
    return f"{counts or 'no files'}; {report.bytes:,} bytes copied"
