"""Encrypts all secrets with the newest keys, so that operators can remove the old keys."""

from functools import partial
from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError
from django.db import models, transaction

from apps.accounts.sign_in.second_factors import reencrypt_authenticator
from apps.workspace.local.secrets.field import UnreadableSecret, secret_columns


class Command(BaseCommand):
    help = "Encrypt all stored secrets under the newest SECRET_KEY and SALT_KEY."

    def handle(self, *args: Any, **options: Any) -> None:
        written, unreadable = 0, []
        for model, field in secret_columns():
            for number in model._default_manager.values_list("pk", flat=True):
                outcome = reencrypt(model, field, number)
                written += outcome is True
                if outcome is None:
                    unreadable.append(f"{model._meta.label} {number}")
        for number in Authenticator.objects.values_list("pk", flat=True):
            name = f"{Authenticator._meta.label} {number}"
            written += reencrypt_authenticator(number, partial(unreadable.append, name))
        self.stdout.write(f"Re-encrypted secrets: {written}.")
        if unreadable:
            raise CommandError(
                f"No SECRET_KEY or SALT_KEY can decrypt {', '.join(unreadable)}. They were not "
                "changed. Add the old keys as fallbacks, and run this command again."
            )


@transaction.atomic
def reencrypt(model: type[models.Model], field: str, number: Any) -> bool | None:
    """Encrypt the field of a row with the newest keys. Return False if it is empty, or None if no
    key can decrypt it.
    """
    rows = model._default_manager.select_for_update().filter(pk=number)
    secret = rows.values_list(field, flat=True).first()
    if isinstance(secret, UnreadableSecret):
        return None
    return bool(secret and rows.update(**{field: secret}))
