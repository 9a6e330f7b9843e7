"""Create an API key on the command line, and print it once."""

from argparse import ArgumentParser
from datetime import date, datetime, time
from typing import Any, cast

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from apps.accounts.keys.changes import record_key
from apps.accounts.models import ApiKey
from apps.datetimes import date_problem, read_datetime

LONGEST_NAME = 50


class Command(BaseCommand):
    help = "Create an API key and print it once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="the purpose of the key, up to 50 characters")
        parser.add_argument(
            "--application",
            action="append",
            default=[],
            metavar="SLUG",
            dest="slugs",
            help="limit the key to this application; can be repeated",
        )
        parser.add_argument(
            "--expires",
            metavar="DATE",
            help="when the key expires: a last day (2027-01-31) or a time (2027-01-31T12:00Z)",
        )

    def handle(
        self, *args: Any, name: str, slugs: list[str], expires: str | None, **options: Any
    ) -> None:
        if not name.strip() or len(name) > LONGEST_NAME:
            raise CommandError(f"NAME must have 1 to {LONGEST_NAME} characters.")
        expiry = expiry_of(expires) if expires else None
        with transaction.atomic():
            applications = find_applications(slugs)
            row, key = ApiKey.objects.create_key(
                name=name.strip(), expiry_date=expiry, is_limited=bool(slugs)
            )
            cast(ApiKey, row).applications.set(applications)
            record_key("key.created", row)
        self.stdout.write(key)
        self.stderr.write("Save it now: it will not be shown again.")


def find_applications(slugs: list[str]) -> list[Any]:
    """Return the applications with these slugs. Raises `CommandError` if one does not exist."""
    found = {
        row.slug: row
        for row in apps.get_model("catalog.Application").objects.filter(slug__in=slugs)
    }
    missing = sorted(set(slugs) - found.keys())
    if missing:
        raise CommandError(f"Unknown application: {', '.join(map(repr, missing))}.")
    return list(found.values())


def expiry_of(text: str) -> datetime:
    """Parse the expiry of a key: a time, or a date, which means the end of that day. Raises
    `CommandError` if it is invalid or in the past.
    """
    try:
        moment = read_datetime(last_moment(text), timezone.get_current_timezone())
    except ValueError:
        raise CommandError(f"--expires: {date_problem(text, '2027-01-31')}") from None
    if moment <= timezone.now():
        raise CommandError(f"--expires is {text!r}, which is in the past. Use a later date.")
    return moment


def last_moment(text: str) -> str:
    """Return the end of the day if the text is a date, otherwise the text itself."""
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        return text
    return datetime.combine(day, time.max).isoformat()
