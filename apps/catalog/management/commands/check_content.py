from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from apps.catalog.content.installed import directories
from apps.catalog.content.layers import read_layers
from apps.catalog.content.models import read_rows
from apps.catalog.content.review import content_problems, mapping_problems


class Command(BaseCommand):
    help = (
        "Check prompt/*.md, tool/*.json, toolset/*.json, skills/*/SKILL.md and "
        "default_configuration.json of every directory, and the rows of the database, each alone "
        "and with the items that it refers to. Fails if there are problems."
    )
    requires_system_checks = ()  # The system checks report the same problems.

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "directory",
            nargs="*",
            type=Path,
            help="another layer, on top of the installed directories; later ones win",
        )

    def handle(self, *args: Any, directory: list[Path], **options: Any) -> None:
        try:
            rows = read_rows()
        except DatabaseError as error:  # Files are checked even without a database.
            rows = None
            self.stderr.write(self.style.WARNING(f"Warning: no rows were checked: {error}"))
        content = read_layers((*directories(), *directory), rows)
        if problems := [*content_problems(content), *mapping_problems(content)]:
            raise CommandError("\n".join(problems))
        names = [
            f"{kind} {name}" for kind, items in content.items.items() for name in sorted(items)
        ]
        self.stdout.write("\n".join([*names, f"{len(names)} items, no problems."]))
