from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.catalog.application_files.exporter import ExportRefused, exported_files, write_files
from apps.catalog.models import Application


class Command(BaseCommand):
    help = (
        "Write applications as files, which import_content reads: application.yaml, prompt.md, "
        "skills and test cases. The files contain only the names of secrets."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("directory", type=Path)
        parser.add_argument(
            "slugs", nargs="*", metavar="SLUG", help="default: all enabled applications"
        )
        parser.add_argument(
            "--draft", action="store_true", help="export the drafts of applications that have one"
        )
        parser.add_argument(
            "--with-real-runs",
            action="store_true",
            help="also export test cases made from a user's run",
        )

    def handle(
        self,
        *args: Any,
        directory: Path,
        slugs: list[str],
        draft: bool,
        with_real_runs: bool,
        **options: Any,
    ) -> None:
        applications = choose_applications(slugs, draft=draft)
        files: dict[str, bytes] = {}
        problems: list[str] = []
        for application in applications:
            try:
                files |= exported_files(application, draft=draft, with_real_runs=with_real_runs)
            except ExportRefused as error:
                problems += error.problems
        if problems:
            lines = "\n".join(problems)
            raise CommandError(f"Nothing was exported.\n{lines}")
        try:
            write_files(directory, files)
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from error
        for application in applications:
            self.stdout.write(f"exported  application {application.slug}")


def choose_applications(slugs: list[str], *, draft: bool) -> list[Application]:
    """Return the applications with these slugs. Without slugs, return all applications that can be
    exported. Raises `CommandError` for an unknown slug.
    """
    rows = Application.objects.order_by("slug")
    used = rows.filter(archived_at=None)
    found = list(
        rows.filter(slug__in=slugs) if slugs else used if draft else used.exclude(live_number=0)
    )
    if unknown := sorted({*slugs} - {row.slug for row in found}):
        raise CommandError(f"Unknown application: {', '.join(map(repr, unknown))}.")
    return found
