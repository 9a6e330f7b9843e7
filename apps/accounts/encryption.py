"""Encrypts short texts that are not stored in encrypted model fields."""

from typing import Any

from cryptography.fernet import MultiFernet
from encrypted_fields.fields import EncryptedTextField


def cipher() -> MultiFernet:
    """Return a cipher that encrypts with the newest `SECRET_KEY` and `SALT_KEY`, and also decrypts
    with older keys.
    """
    field: Any = EncryptedTextField()
    found: MultiFernet = field.f
    return found
