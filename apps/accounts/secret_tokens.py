"""Secrets in links and in the log. Only their hashes are stored."""

import hashlib
import secrets


def new_token() -> str:
    return secrets.token_urlsafe(32)


def hash_of(token: str) -> str:
    """Return an unsalted hash. A token is random and long, so it cannot be guessed from its
    hash.
    """
    return hashlib.sha256(token.encode()).hexdigest()
