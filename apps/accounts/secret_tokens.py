"""Creates the secrets in links and in the log. Only hashes of these secrets are stored."""

import hashlib
import secrets


def new_token() -> str:
    return secrets.token_urlsafe(32)


def hash_of(token: str) -> str:
    """Return an unsalted hash. The token is random and long, so nobody can guess it from its
    hash.
    """
    return hashlib.sha256(token.encode()).hexdigest()
