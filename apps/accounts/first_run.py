"""The first administrator, where nobody administrates yet.

Whoever reads the log may make one: each process that serves writes a token of its own into it.
All tokens are gone as soon as there is an administrator.
"""

import hmac

from django.contrib.auth.models import User
from django.db import transaction

from apps.accounts.models import SetupToken
from apps.accounts.tokens import hash_of, new_token


class Refused(Exception):
    """The token is wrong, or there is an administrator by now."""


def is_needed() -> bool:
    return not User.objects.filter(is_superuser=True, is_active=True).exists()


def offer() -> str | None:
    """A new token, if there is no administrator."""
    if not is_needed():
        SetupToken.objects.all().delete()
        return None
    token = new_token()
    SetupToken.objects.create(token_hash=hash_of(token))
    return token


def is_right(token: str) -> bool:
    hashes = SetupToken.objects.values_list("token_hash", flat=True)
    return any(hmac.compare_digest(known, hash_of(token)) for known in hashes)


@transaction.atomic
def make_administrator(token: str, name: str, email: str, password: str) -> User:
    """Raises `Refused`, and `IntegrityError` for a name that is taken."""
    # Locked: of two at the same time, the second finds the first one's administrator.
    list(SetupToken.objects.select_for_update())
    if not is_right(token) or not is_needed():
        raise Refused
    user = User.objects.create_superuser(name, email, password)
    SetupToken.objects.all().delete()
    return user
