"""Say what is wrong with predefined prompts, tools and toolsets."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.catalog.content.installed import directories
from apps.catalog.content.layers import read_layers
from apps.catalog.content.review import content_problems


class Command(BaseCommand):
    help = (
        "Check prompt/*.md, tool/*.json, toolset/*.json and default_configuration.json, each "
        "alone and with what it refers to. Fails when something is wrong."
    )
    requires_system_checks = ()  # they would say the same

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "directory",
            nargs="*",
            type=Path,
            help="another layer, on top of what is installed; later ones win",
        )

    def handle(self, *args: Any, directory: list[Path], **options: Any) -> None:
        content = read_layers((*directories(), *directory))
        if problems := content_problems(content):
            raise CommandError("\n".join(problems))
        names = [
            f"{kind} {name}" for kind, items in content.items.items() for name in sorted(items)
        ]
        self.stdout.write("\n".join([*names, f"{len(names)} items, nothing is wrong."]))
