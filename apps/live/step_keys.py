"""Keys of steps as the database takes them."""

import hashlib

from apps.live.events import storable

LONGEST_KEY = 500


def kept_key(key: str) -> str:
    """The key as the database takes it: ids of calls are the model's, of any length."""
    key = storable(key)
    if len(key) <= LONGEST_KEY:
        return key
    return f"{key[: LONGEST_KEY - 65]}#{hashlib.sha256(key.encode()).hexdigest()}"
