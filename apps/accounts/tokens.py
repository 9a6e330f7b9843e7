"""Secrets of links and of the log, of which only a hash is kept."""

import hashlib
import secrets


def new_token() -> str:
    return secrets.token_urlsafe(32)


def hash_of(token: str) -> str:
    """Without a salt: a token is random and long, so that nobody can guess it from its hash."""
    return hashlib.sha256(token.encode()).hexdigest()
