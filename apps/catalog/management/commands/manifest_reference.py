"""Writes the manifest reference in the docs. Run this command after changing the manifest's fields."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.manifest.schema.reference import ReferenceIncomplete, render_tables


class Command(BaseCommand):
    help = "Write the tables of docs/manifest.md from the models of manifests."

    def handle(self, *args: Any, **options: Any) -> None:
        path = settings.BASE_DIR / "docs" / "manifest.md"
        try:
            before = path.read_text()
            path.write_text(written := render_tables(before))
        except FileNotFoundError:
            raise CommandError(f"{path} does not exist; run this command in a checkout.") from None
        except ReferenceIncomplete as error:
            raise CommandError(f"{path.name}: {error}") from error
        self.stdout.write(f"docs/{path.name}: {'unchanged' if written == before else 'changed'}")
