from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from apps.workspace.local import read_only


class Command(BaseCommand):
    help = (
        "Make the installation read-only during maintenance: pages and APIs accept requests that "
        "only read, and reject all others with status 503. Answers in progress finish."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("switch", choices=("on", "off"))

    def handle(self, *, switch: str, **options: Any) -> None:
        read_only.switch(on=switch == "on")
        self.stdout.write(f"Read-only: {switch}.")
