"""Stores a new API key, encrypted in its creator's session, until the page has shown it once."""

from cryptography.fernet import InvalidToken
from django.contrib.sessions.backends.base import SessionBase

from apps.accounts.encryption import cipher

CREATED = "created_keys"
SHOWN_FOR_SECONDS = 300


def store_new_key(session: SessionBase, prefix: str, key: str) -> None:
    waiting = session.get(CREATED, {})
    session[CREATED] = {**waiting, prefix: cipher().encrypt(key.encode()).decode()}


def pop_new_key(session: SessionBase, prefix: str) -> str:
    """Remove a new key from the session and return it. Return "" if it was already shown, or was
    stored more than `SHOWN_FOR_SECONDS` ago.
    """
    waiting = dict(session.get(CREATED, {}))
    encrypted = waiting.pop(prefix, None)
    if encrypted is None:
        return ""
    session[CREATED] = waiting
    try:
        return cipher().decrypt(encrypted, ttl=SHOWN_FOR_SECONDS).decode()
    except InvalidToken:
        return ""
