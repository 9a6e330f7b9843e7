import json
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.catalog.models import Application
from apps.catalog.registration import Addresses, clean_url, registration


class Command(BaseCommand):
    help = (
        "Print the entries of DIAL Core's configuration file for this server: the application "
        "type, and each enabled application."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--base-url",
            default=settings.SITE_URL,
            help="The URL at which DIAL Core reaches this server (default: %(default)s).",
        )
        parser.add_argument(
            "--site-url",
            help="The URL at which browsers reach this server (default: the base URL).",
        )
        parser.add_argument(
            "--id", default=settings.APP_SCHEMA_ID, help="The type's $id (default: %(default)s)."
        )
        parser.add_argument("slugs", nargs="*", help="Only these applications (default: all).")

    def handle(self, *args: Any, **options: Any) -> None:
        service = clean_url("--base-url", options["base_url"])
        site = clean_url("--site-url", options["site_url"] or service)
        found = Application.objects.filter(is_enabled=True)
        if slugs := options["slugs"]:
            found = found.filter(slug__in=slugs)
            if unknown := sorted({*slugs} - {application.slug for application in found}):
                raise CommandError(f"Unknown or disabled application: {', '.join(unknown)}.")
        entries = registration(options["id"], Addresses(service, site), found)
        self.stdout.write(json.dumps(entries, indent=2, ensure_ascii=False))
