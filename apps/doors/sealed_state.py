"""Encrypts an answer's state as text that only this installation can decrypt. APIs without a field
for the state send it in the field for the vendor's encrypted reasoning.
"""

import zlib
from collections.abc import Mapping
from typing import Any

import msgspec
from cryptography.fernet import InvalidToken

from apps.accounts.encryption import cipher

MOST_BYTES = 16 * 1024 * 1024
"""The maximum size of a decompressed state in bytes."""


def sealed(state: Mapping[str, Any]) -> str:
    return packed(msgspec.json.encode(state))


def unsealed(content: str) -> dict[str, Any]:
    """Decrypt a state. Return {} if this installation did not encrypt it."""
    try:
        written = unpacked(content)
    except (InvalidToken, ValueError):  # Fernet raises `ValueError` for non-ASCII characters.
        return {}
    return msgspec.json.decode(written, type=dict[str, Any])


class StateTooLarge(ValueError):
    """Raised if a decompressed state exceeds `MOST_BYTES`."""


def packed(written: bytes) -> str:
    return cipher().encrypt(zlib.compress(written)).decode()


def unpacked(content: str) -> bytes:
    """Decrypt and decompress a text. Raises `InvalidToken` if this installation did not encrypt it,
    or `StateTooLarge`.
    """
    unpacking = zlib.decompressobj()
    written = unpacking.decompress(cipher().decrypt(content), MOST_BYTES)
    if unpacking.unconsumed_tail:
        raise StateTooLarge
    return written
