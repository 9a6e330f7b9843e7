"""Imports a folder of Markdown files into the notes of a user or a team."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.notes.errors import NoteRefused
from apps.notes.management.owners import add_owner_arguments, named_owner, named_user
from apps.notes.store import Author
from apps.notes.transfer.note_import import import_notes
from apps.notes.transfer.sources import FolderSource


class Command(BaseCommand):
    help = "Import a folder of Markdown files into the notes of a user or a team."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "folder", type=Path, help="The folder, in the format of `export_notes`."
        )
        add_owner_arguments(parser)

    def handle(self, *args: Any, folder: Path, user: str, team: str, **options: Any) -> None:
        owner = named_owner(user, team)
        if not folder.is_dir():
            raise CommandError(f"{folder} is not a folder.")
        author = Author(named_user(user).pk if user else None)
        try:
            done = import_notes(owner, FolderSource(folder), author)
        except (NoteRefused, OSError) as error:
            raise CommandError(f"Nothing was imported: {error}") from error
        self.stdout.write(
            f"New: {done.new}, changed: {done.changed}, unchanged: {done.same}, "
            f"files: {done.files}, left out: {done.left_out}."
        )
