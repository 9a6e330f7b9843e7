"""Exports the notes of a user or a team as a folder of Markdown files."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.notes.management.owners import add_owner_arguments, named_owner
from apps.notes.transfer.note_export import write_folder


class Command(BaseCommand):
    help = "Write the notes of a user or a team into a folder, as Markdown files."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="The folder; it must be new or empty.")
        add_owner_arguments(parser)

    def handle(self, *args: Any, folder: Path, user: str, team: str, **options: Any) -> None:
        owner = named_owner(user, team)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise CommandError(f"{folder} is not empty; choose a new folder.")
            count = write_folder(owner, folder)
        except OSError as error:
            raise CommandError(f"{folder} cannot be written: {error}") from error
        self.stdout.write(f"Files written: {count}.")
