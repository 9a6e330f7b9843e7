"""Create the `admin` account if there is no administrator yet, and print its password once."""

import secrets
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand

NAME = "admin"


class Command(BaseCommand):
    help = "Create the account 'admin' with a random password if there is no administrator yet."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--new-password",
            action="store_true",
            help="set a new random password, even if the account exists",
        )

    def handle(self, *args: Any, new_password: bool = False, **options: Any) -> None:
        someone = User.objects.filter(is_superuser=True, is_active=True).exists()
        if someone and not new_password:
            return
        account, _ = User.objects.get_or_create(username=NAME)
        password = secrets.token_urlsafe(15)
        account.is_staff = account.is_superuser = account.is_active = True
        account.set_password(password)
        account.save()
        self.stdout.write(
            f"Account:  {NAME}\nPassword: {password}\nSave it now: it will not be shown again."
        )
