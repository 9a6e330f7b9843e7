from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import IntegrityError

from apps.catalog.content.installed import directories
from apps.catalog.row_files import ContentInvalid
from apps.catalog.row_import import ImportedFile, import_directories

OVERWRITE = "--overwrite"


class Command(BaseCommand):
    help = (
        "Import application/*.json and deployment/*.json of a directory. Everything is checked "
        "first; what an operator has changed since the last import is left as it is."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "directory",
            nargs="?",
            type=Path,
            help="default: the built-in content and PREDEFINED_EXTRA_PATHS, later ones winning",
        )
        parser.add_argument(
            OVERWRITE, action="store_true", help="replace what an operator has changed, too"
        )

    def handle(self, *args: Any, directory: Path | None, overwrite: bool, **options: Any) -> None:
        try:
            layers = directories() if directory is None else (directory,)
            report = import_directories(*layers, overwrite=overwrite)
        except ContentInvalid as error:
            lines = "\n".join(error.problems)
            raise CommandError(f"Nothing was imported.\n{lines}") from error
        except IntegrityError as error:
            raise CommandError(
                "Nothing was imported: somebody else changed the same rows. Try again."
            ) from error
        for warning in report.warnings:
            self.stderr.write(self.style.WARNING(f"Warning: {warning}"))
        self.stdout.write("\n".join(lines_of(report.outcomes)))


def lines_of(outcomes: Iterable[ImportedFile]) -> list[str]:
    lines = []
    for outcome in outcomes:
        line = f"{outcome.action:<9} {outcome.item.kind.name} {outcome.item.key}"
        if outcome.action == "kept":
            line += f" (changed since it was imported; {OVERWRITE} replaces it)"
        lines.append(line)
    return lines or ["There was nothing to import."]
