"""Write a report for troubleshooting this installation into one file. See docs/maintenance.md."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from quickapps_site.operations.archive import new_file
from quickapps_site.operations.diagnosis.report import diagnose
from quickapps_site.operations.diagnosis.variables import hide_credentials

STDOUT = "-"


class Command(BaseCommand):
    help = "Write a report on this installation, without secrets and conversations, to one file."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            nargs="?",
            default=f"quickapps-{timezone.now():%Y%m%d-%H%M%S}.json",
            help=f"The file to create; {STDOUT} writes to the standard output.",
        )
        parser.add_argument(
            "--without-models",
            action="store_true",
            help="Do not send a short question to each deployment.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["file"]).absolute()
        is_file = options["file"] != STDOUT
        if is_file and path.exists():
            raise CommandError(f"{path} already exists; choose another name.")
        report = diagnose(asks_models=not options["without_models"])
        document = hide_credentials(json.dumps(report, indent=1, ensure_ascii=False, default=str))
        if not is_file:
            self.stdout.write(document)
            return
        try:
            with new_file(path) as file:
                file.write(f"{document}\n".encode())
        except OSError as error:
            raise CommandError(f"The report could not be written: {error}") from error
        self.stdout.write(str(path))
