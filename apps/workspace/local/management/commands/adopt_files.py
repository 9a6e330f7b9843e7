from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.workspace.local.files.storage import storage
from apps.workspace.local.installation import ROW, Installation, adopt_key, write_marker


class Command(BaseCommand):
    help = (
        "Mark the stored files as belonging to this installation, after you moved or restored "
        "them. Before that, /readyz and `manage.py check --deploy` report them as foreign."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--keys",
            action="store_true",
            help="also mark SECRET_KEY and SALT_KEY as belonging to this installation",
        )

    def handle(self, *, keys: bool, **options: Any) -> None:
        row = Installation.objects.filter(pk=ROW).first()
        if row is None:
            raise CommandError("This installation has no ID yet. Start the server first.")
        write_marker(row, storage())
        if keys:
            adopt_key(row)
        self.stdout.write(f"The files belong to {row}.")
