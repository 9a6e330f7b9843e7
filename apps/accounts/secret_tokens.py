"""Secrets in links and in the log. Only their hashes are stored."""

import hashlib
import secrets


def new_token() -> str:
    return secrets.token_urlsafe(32)


def hash_of(token: str) -> str:
    """Return a hash without a salt. A token is random and long, so nobody can guess it from its
    hash.
    """
    return hashlib.sha256(token.encode()).hexdigest()
