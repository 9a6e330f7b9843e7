"""Encrypts short texts that have no encrypted column of their own."""

from typing import Any

from cryptography.fernet import MultiFernet
from encrypted_fields.fields import EncryptedTextField


def cipher() -> MultiFernet:
    """Return a cipher that encrypts with the newest `SECRET_KEY` and `SALT_KEY`, and decrypts with
    older ones too.
    """
    field: Any = EncryptedTextField()
    found: MultiFernet = field.f
    return found
