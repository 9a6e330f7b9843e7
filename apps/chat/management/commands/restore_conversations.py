"""Make conversations of the files that they were mirrored to."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.chat.mirror import NotRestored, files, read, restore


class Command(BaseCommand):
    help = (
        "Make conversations of the files below a folder that CONVERSATION_MIRROR named. Those that "
        "are there stay as they are."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", nargs="?", help="instead of CONVERSATION_MIRROR")

    def handle(self, *args: Any, folder: str | None, **options: Any) -> None:
        wanted = folder or settings.CONVERSATION_MIRROR
        if not wanted or not Path(wanted).is_dir():
            raise CommandError(f"There is no folder {wanted!r}; name one that was mirrored to.")
        counts = {True: 0, False: 0}
        refused = 0
        for path in files(Path(wanted)):
            try:
                counts[restore(read(path))] += 1
            except NotRestored as error:
                refused += 1
                self.stderr.write(f"{path}: {error}")
        self.stdout.write(f"Restored: {counts[True]}. There already: {counts[False]}.")
        if refused:
            raise CommandError(f"{refused} files could not be restored.")
