"""Checks the keys that encrypt stored secrets: computes a fingerprint for backups, and finds
secrets that no key can decrypt.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterator

from allauth.mfa.models import Authenticator
from cryptography.fernet import InvalidToken
from django.conf import settings

from apps.accounts.encryption import cipher
from apps.accounts.sign_in.second_factors import SECRETS
from apps.workspace.local.secrets.field import UnreadableSecret, secret_columns


def fingerprint() -> str:
    """Return a salted fingerprint of the newest `SECRET_KEY` and `SALT_KEY`. It does not reveal
    them.
    """
    salt = secrets.token_bytes(16)
    return f"{salt.hex()}:{digest(settings.SECRET_KEY, settings.SALT_KEY[0], salt)}"


def fits(print_of_archive: str) -> bool:
    """Return True if a current or old key has this fingerprint."""
    salt, _, expected = print_of_archive.partition(":")
    return any(
        hmac.compare_digest(digest(key, salt_key, bytes.fromhex(salt)), expected)
        for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
        for salt_key in settings.SALT_KEY
    )


def digest(key: str, salt_key: str, salt: bytes) -> str:
    # The hash is deliberately slow, so that an archive does not help an attacker guess a short key.
    text = f"{key}\0{salt_key}".encode()
    return hashlib.scrypt(text, salt=salt, n=2**15, r=8, p=1, maxmem=2**26).hex()


def unreadable_secrets() -> Iterator[str]:
    """Yield the label and the primary key of each row with a secret that no key can decrypt."""
    for model, field in secret_columns():
        for number, secret in model._default_manager.values_list("pk", field).iterator():
            if isinstance(secret, UnreadableSecret):
                yield f"{model._meta.label} {number}"
    for row in Authenticator.objects.iterator():
        try:
            for name in SECRETS:
                if name in row.data:
                    cipher().decrypt(row.data[name].encode())
        except InvalidToken:
            yield f"{Authenticator._meta.label} {row.pk}"
