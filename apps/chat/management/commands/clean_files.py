"""Delete files that nobody needs, as the server does every hour, and bytes that belong to no file."""

from typing import Any

from django.core.management.base import BaseCommand

from apps.chat import unsent_files
from apps.workspace.local.leftovers import delete_leftovers


class Command(BaseCommand):
    help = (
        "Delete files of questions that were never asked, a day after they were uploaded, and what "
        "the storage has without a file that it belongs to."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        given_up = unsent_files.delete()
        unused = delete_leftovers()
        self.stdout.write(f"Questions that were never asked: {given_up}\nUnused files: {unused}")
