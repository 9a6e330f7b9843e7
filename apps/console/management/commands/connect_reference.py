"""Writes docs/connect.md. Run this command after you change the guide for clients of an API."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.doors.guides import DoorGuide, load_guides

EXAMPLE = "http://127.0.0.1:8000", "my-application", "My application"
START = "<!-- Written by manage.py connect_reference -->\n"


class Command(BaseCommand):
    help = "Write the doors in docs/connect.md from their guides."

    def handle(self, *args: Any, **options: Any) -> None:
        path = settings.BASE_DIR / "docs" / "connect.md"
        try:
            before = path.read_text()
        except FileNotFoundError:
            raise CommandError(f"{path} does not exist; run this command in a checkout.") from None
        written = before.partition(START)[0] + START + render_guides(load_guides())
        path.write_text(written)
        self.stdout.write(f"docs/{path.name}: {'unchanged' if written == before else 'changed'}")


def render_guides(guides: Iterable[DoorGuide]) -> str:
    return "".join(f"\n{render_guide(guide.fill(*EXAMPLE))}" for guide in guides)


def render_guide(guide: DoorGuide) -> str:
    snippets = "".join(
        f"\n**{one.title}**\n\n```{one.language}\n{one.text}\n```\n" for one in guide.snippets
    )
    address = f"URL: `{guide.address}`. Details: [{guide.title}]({guide.docs})."
    return f"## {guide.title}\n\n{guide.summary}\n\n{address}\n{snippets}"
