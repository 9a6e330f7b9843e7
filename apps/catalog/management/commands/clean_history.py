"""To be run by a timer once a day."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.timezone import now

from apps.catalog.models import Change

AT_ONCE = 500
"""Rows in one transaction, so that nobody who saves waits for long."""


class Command(BaseCommand):
    help = "Delete the history of definitions that is older than HISTORY_DAYS."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--days",
            type=int,
            default=settings.HISTORY_DAYS,
            help="Keep so many days instead (HISTORY_DAYS is %(default)s); 0 keeps everything.",
        )

    def handle(self, *args: Any, days: int, **options: Any) -> None:
        if days < 0:
            raise CommandError("--days must be 0 or more.")
        if not days:
            self.stdout.write("The history is kept for ever.")
            return
        old = Change.objects.filter(at__lt=now() - timedelta(days=days)).order_by("pk")
        count = 0
        while numbers := list(old.values_list("pk", flat=True)[:AT_ONCE]):
            count += Change.objects.filter(pk__in=numbers).delete()[0]
        self.stdout.write(f"Deleted: {count}.")
