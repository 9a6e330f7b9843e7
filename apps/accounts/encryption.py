"""Short texts that are kept encrypted outside of a column of their own, as secrets are."""

from typing import Any

from cryptography.fernet import MultiFernet
from encrypted_fields.fields import EncryptedTextField


def cipher() -> MultiFernet:
    """Encrypts under the newest `SECRET_KEY` and `SALT_KEY`, and reads under former ones too."""
    field: Any = EncryptedTextField()
    found: MultiFernet = field.f
    return found
