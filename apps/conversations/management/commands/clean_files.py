"""Deletes the files of unsent questions, and stored content to which no database row refers."""

from typing import Any

from django.core.management.base import BaseCommand

from apps.conversations.files import unsent
from apps.workspace.local.files.leftovers import delete_leftovers


class Command(BaseCommand):
    help = (
        "Delete files of questions that were never sent, a day after they were uploaded, and stored "
        "bytes that belong to no file."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        given_up = unsent.delete()
        unused = delete_leftovers()
        self.stdout.write(f"Questions that were never sent: {given_up}\nUnused files: {unused}")
