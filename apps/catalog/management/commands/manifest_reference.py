"""To be run after a field of manifests has changed."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.manifest.reference import ReferenceIncomplete, rendered


class Command(BaseCommand):
    help = "Write the tables of docs/manifest.md from the models of manifests."

    def handle(self, *args: Any, **options: Any) -> None:
        path = settings.BASE_DIR / "docs" / "manifest.md"
        try:
            path.write_text(rendered(path.read_text()))
        except ReferenceIncomplete as error:
            raise CommandError(f"{path.name}: {error}") from error
