"""Restores conversations from a mirror."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.conversations.mirror import NotRestored, files, read_mirrored, restore_conversation


class Command(BaseCommand):
    help = (
        "Restore conversations from the files of a folder that was a CONVERSATION_MIRROR. Existing "
        "conversations are not changed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "folder", nargs="?", help="the folder to use instead of CONVERSATION_MIRROR"
        )

    def handle(self, *args: Any, folder: str | None, **options: Any) -> None:
        wanted = folder or settings.CONVERSATION_MIRROR
        if not wanted or not Path(wanted).is_dir():
            raise CommandError(
                f"The folder {wanted!r} does not exist. Use the folder of a conversation mirror."
            )
        counts = {True: 0, False: 0}
        refused = 0
        for path in files(Path(wanted)):
            try:
                counts[restore_conversation(read_mirrored(path))] += 1
            except NotRestored as error:
                refused += 1
                self.stderr.write(f"{path}: {error}")
        self.stdout.write(f"Restored: {counts[True]}. Already existing: {counts[False]}.")
        if refused:
            raise CommandError(f"{refused} files could not be restored.")
