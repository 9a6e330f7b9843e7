"""Validates the keys that other sites use to sign their users' identities: a secret (HS256) or a
public key (EdDSA).
"""

from typing import Literal

from django.core.exceptions import ValidationError
from jwt.algorithms import OKPAlgorithm
from jwt.exceptions import InvalidKeyError

Algorithm = Literal["HS256", "EdDSA"]
PUBLIC = "-----BEGIN PUBLIC KEY-----"
LONGEST_KEY = 1_000


def algorithm_of(key: str) -> Algorithm:
    return "EdDSA" if key.startswith(PUBLIC) else "HS256"


def read_public_key(written: object) -> str:
    """Return the Ed25519 public key in the text, in PEM format. Raises `ValidationError` for any
    other text.
    """
    text = written.strip() if isinstance(written, str) else ""
    try:
        if not text.startswith(PUBLIC) or len(text) > LONGEST_KEY:
            raise ValueError
        # Raises an error for RSA and other keys.
        OKPAlgorithm().prepare_key(text)
    except (InvalidKeyError, ValueError, TypeError):
        raise ValidationError(
            f"public_key: this is not a public Ed25519 key. Use PEM that begins with {PUBLIC}."
        ) from None
    return text
