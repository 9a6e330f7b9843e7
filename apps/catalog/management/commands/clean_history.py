from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.catalog.models import Change
from apps.old_rows import delete_older


class Command(BaseCommand):
    help = "Delete the history of definitions that is older than AUDIT_DAYS."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--days",
            type=int,
            default=settings.AUDIT_DAYS,
            help="The number of days to retain (default: AUDIT_DAYS, %(default)s); 0 retains everything.",
        )

    def handle(self, *args: Any, days: int, **options: Any) -> None:
        if days < 0:
            raise CommandError(f"--days is {days}; use 0 or more.")
        if not days:
            self.stdout.write("The history is retained forever.")
            return
        self.stdout.write(f"Deleted: {delete_older(Change, 'at', days)}.")
