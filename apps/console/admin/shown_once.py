"""Secrets that are shown once, on the page after the form that made them.

For that page they wait, encrypted, in the session of the person who made them.
"""

from cryptography.fernet import InvalidToken
from django.http import HttpRequest

from apps.workspace.local.secrets import SecretField

CREATED = "created_keys"
SHOWN_FOR_SECONDS = 300
ENCRYPTION = SecretField()


def keep_secret(request: HttpRequest, name: str, secret: str) -> None:
    waiting = request.session.get(CREATED, {})
    request.session[CREATED] = {**waiting, name: ENCRYPTION.encrypted(secret)}


def take_secret(request: HttpRequest, name: str) -> str:
    """The new secret; "" if it was shown before or `SHOWN_FOR_SECONDS` are over."""
    waiting = dict(request.session.get(CREATED, {}))
    encrypted = waiting.pop(name, None)
    if encrypted is None:
        return ""
    request.session[CREATED] = waiting
    try:
        return ENCRYPTION.f.decrypt(encrypted, ttl=SHOWN_FOR_SECONDS).decode()
    except InvalidToken:
        return ""
