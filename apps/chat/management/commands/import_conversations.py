"""Bring in conversations that a person had with another program."""

from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.accounts.buckets import caller_in
from apps.catalog.access import usable
from apps.chat.imports.tree import Unreadable
from apps.chat.imports.writer import ImportReport, import_file


class Command(BaseCommand):
    help = (
        "Import conversations of ChatGPT (conversations.json or the ZIP), Open WebUI, LibreChat or "
        "another installation for a person. Those that are there already stay as they are."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file")
        parser.add_argument("--user", required=True, help="the username of their owner")
        parser.add_argument(
            "--application", required=True, help="the slug of what goes on with them"
        )
        parser.add_argument("--dry-run", action="store_true", help="tell what would come in")

    def handle(
        self, *args: Any, file: str, user: str, application: str, dry_run: bool, **options: Any
    ) -> None:
        person = get_user_model().objects.filter(username=user, is_active=True).first()
        if person is None:
            raise CommandError(f"--user: nobody is called {user!r}, or the account is closed.")
        caller = caller_in(person.pk)
        chosen = usable(caller).filter(slug=application).first()
        if chosen is None:
            raise CommandError(f"--application: {user} may use no application {application!r}.")
        try:
            with Path(file).open("rb") as content:
                report = import_file(caller, chosen, content, is_trial=dry_run)
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}") from error
        except Unreadable as error:
            raise CommandError(f"{file}: {error}") from error
        self.tell(report)

    def tell(self, report: ImportReport) -> None:
        verb = "Would import" if report.is_trial else "Imported"
        origins = ", ".join(f"{count} from {name}" for name, count in report.sources.items())
        self.stdout.write(
            f"{verb}: {report.conversations} conversations with {report.messages} messages "
            f"and {report.files} files"
            f"{f' ({origins})' if origins else ''}. There already: {report.known}. "
            f"Not readable: {report.unreadable}."
        )
        for title, reason in report.skipped:
            self.stderr.write(f"{title or 'Without a title'}: {reason}.")
