"""After this command the older values can leave SECRET_KEY_FALLBACKS and SALT_KEY."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from allauth.mfa.models import Authenticator
from django.apps import apps
from django.core.management.base import BaseCommand, CommandError
from django.db import models, transaction

from apps.accounts.second_factors import encrypt_anew
from apps.workspace.local.secrets import SecretField, UnreadableSecret


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
            written += encrypt_anew(number, partial(unreadable.append, name))
        self.stdout.write(f"Secrets written anew: {written}.")
        if unreadable:
            raise CommandError(
                f"No SECRET_KEY or SALT_KEY fits: {', '.join(unreadable)}. They were left as they "
                "are; bring the old values back as fallbacks and run this again."
            )


def secret_columns() -> Iterator[tuple[type[models.Model], str]]:
    for model in apps.get_models():
        for field in model._meta.fields:
            if isinstance(field, SecretField):
                yield model, field.name


@transaction.atomic
def reencrypt(model: type[models.Model], field: str, number: Any) -> bool | None:
    """Whether there was a secret to write; None if it is unreadable."""
    rows = model._default_manager.select_for_update().filter(pk=number)
    secret = rows.values_list(field, flat=True).first()
    if isinstance(secret, UnreadableSecret):
        return None
    return bool(secret and rows.update(**{field: secret}))
