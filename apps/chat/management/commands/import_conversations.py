"""Imports a user's conversations from another product."""

from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.accounts.caller import caller_in
from apps.catalog.access import usable
from apps.chat.imports.tree import UnreadableConversation
from apps.chat.imports.writer import ConversationImportReport, import_file


class Command(BaseCommand):
    help = (
        "Import conversations of ChatGPT (conversations.json or the ZIP), Open WebUI, LibreChat or "
        "another installation for a user. Conversations that were imported before stay unchanged."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file")
        parser.add_argument(
            "--user", required=True, help="the username of the user who will own them"
        )
        parser.add_argument(
            "--application", required=True, help="the slug of the application that continues them"
        )
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="report what would be imported, and store nothing",
        )

    def handle(
        self, *args: Any, file: str, user: str, application: str, dry_run: bool, **options: Any
    ) -> None:
        person = get_user_model().objects.filter(username=user, is_active=True).first()
        if person is None:
            raise CommandError(f"--user: there is no active account named {user!r}.")
        caller = caller_in(person.pk)
        chosen = usable(caller).filter(slug=application).first()
        if chosen is None:
            raise CommandError(
                f"--application: {user} cannot use an application named {application!r}."
            )
        try:
            with Path(file).open("rb") as content:
                report = import_file(caller, chosen, content, is_trial=dry_run)
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}") from error
        except UnreadableConversation as error:
            raise CommandError(f"{file}: {error}") from error
        self.print_report(report)

    def print_report(self, report: ConversationImportReport) -> None:
        verb = "Would import" if report.is_trial else "Imported"
        origins = ", ".join(f"{count} from {name}" for name, count in report.sources.items())
        self.stdout.write(
            f"{verb}: {report.conversations} conversations with {report.messages} messages "
            f"and {report.files} files"
            f"{f' ({origins})' if origins else ''}. Imported before: {report.duplicates}. "
            f"Unreadable: {report.unreadable}."
        )
        for title, reason in report.skipped:
            self.stderr.write(f"{title or 'Without a title'}: {reason}.")
