"""Creates random tokens for links and for the initial setup. Only hashes of the tokens are stored."""

import hashlib
import secrets


def new_token() -> str:
    return secrets.token_urlsafe(32)


def hash_of(token: str) -> str:
    """Return an unsalted hash. The token is random and too long to be guessed from its hash."""
    return hashlib.sha256(token.encode()).hexdigest()
