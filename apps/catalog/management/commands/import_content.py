from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import IntegrityError
from django.utils.text import Truncator

from apps.catalog.application_files.row_files import ContentInvalid
from apps.catalog.application_files.row_import import ImportedFile, import_directories
from apps.catalog.content.installed import directories
from apps.catalog.history.differences import LineKind, ValueDifference
from apps.catalog.history.display import rendered_difference

OVERWRITE = "--overwrite"
LONGEST = 100
"""The length to which the report of changes truncates each value."""
SIGNS: Mapping[LineKind, str] = {"added": "+", "removed": "-", "same": " ", "place": " "}


class Command(BaseCommand):
    help = (
        "Import application/*.json, application/*/application.yaml and deployment/*.json of a "
        "directory. All files are checked first. Rows that an operator has changed since the "
        "last import are not overwritten."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "directory",
            nargs="?",
            type=Path,
            help="default: the built-in content and PREDEFINED_EXTRA_PATHS; later ones win",
        )
        parser.add_argument(
            OVERWRITE, action="store_true", help="also replace rows that an operator has changed"
        )

        parser.add_argument(
            "--dry-run", action="store_true", help="report the changes, and save nothing"
        )

    def handle(
        self, *args: Any, directory: Path | None, overwrite: bool, dry_run: bool, **options: Any
    ) -> None:
        try:
            layers = directories() if directory is None else (directory,)
            report = import_directories(*layers, overwrite=overwrite, dry_run=dry_run)
        except ContentInvalid as error:
            lines = "\n".join(error.problems)
            raise CommandError(f"Nothing was imported.\n{lines}") from error
        except IntegrityError as error:
            raise CommandError(
                "Nothing was imported: another process changed the same rows at the same time. Try again."
            ) from error
        for warning in report.warnings:
            self.stderr.write(self.style.WARNING(f"Warning: {warning}"))
        self.stdout.write("\n".join(lines_of(report.outcomes, with_differences=dry_run)))
        if dry_run:
            self.stdout.write("Nothing was saved.")


def lines_of(outcomes: Iterable[ImportedFile], *, with_differences: bool = False) -> list[str]:
    lines = []
    for outcome in outcomes:
        line = f"{outcome.action:<9} {outcome.item.kind.name} {outcome.item.key}"
        if outcome.action == "kept":
            line += f" (changed since it was imported; {OVERWRITE} replaces it)"
        lines.append(line)
        if with_differences:
            lines += difference_lines(outcome.differences)
    return lines or ["There was nothing to import."]


def difference_lines(found: Iterable[ValueDifference]) -> Iterator[str]:
    """Yield lines such as ` manifest.orchestrator.max_iterations: 10 → 20`. For long texts, yield
    the changed lines.
    """
    for one in map(rendered_difference, found):
        if not one.lines:
            yield f"    {one.path}: {on_one_line(one.before)} → {on_one_line(one.after)}"
            continue
        yield f"    {one.path}:"
        yield from (f"      {SIGNS[line.kind]} {line.text}" for line in one.lines)


def on_one_line(text: str) -> str:
    return Truncator(" ".join(text.split())).chars(LONGEST)
