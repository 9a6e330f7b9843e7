"""Creates the first administrator, for a visitor who enters a token from the server's log.

Until there is an administrator, each server process logs a token at startup. All tokens expire when
the administrator is created.
"""

import hmac

from django.contrib.auth.models import User
from django.db import transaction

from apps.accounts.models import SetupToken
from apps.accounts.secret_tokens import hash_of, new_token


class SetupRefused(Exception):
    """Raised if the setup token is wrong, or if there already is an administrator."""


def is_needed() -> bool:
    return not User.objects.filter(is_superuser=True, is_active=True).exists()


def create_setup_token() -> str | None:
    """Create and return a setup token, or return None if there already is an administrator."""
    if not is_needed():
        SetupToken.objects.all().delete()
        return None
    token = new_token()
    SetupToken.objects.create(token_hash=hash_of(token))
    return token


def is_valid_token(token: str) -> bool:
    hashes = SetupToken.objects.values_list("token_hash", flat=True)
    return any(hmac.compare_digest(known, hash_of(token)) for known in hashes)


@transaction.atomic
def make_administrator(token: str, name: str, email: str, password: str) -> User:
    """Create the first administrator and return it. Raises `SetupRefused` if the token is wrong or
    there already is an administrator, and `IntegrityError` if the name is taken.
    """
    # The rows are locked, so that the second of two concurrent requests finds the administrator that
    # the first request created.
    list(SetupToken.objects.select_for_update())
    if not is_valid_token(token) or not is_needed():
        raise SetupRefused
    user = User.objects.create_superuser(name, email, password)
    SetupToken.objects.all().delete()
    return user
