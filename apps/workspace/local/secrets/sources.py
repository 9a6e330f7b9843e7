"""Defines where the text of a secret comes from: its row, or a store to which the row refers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


class SourceFailed(Exception):
    """Raised if a secret cannot be read. The message contains its path in the store, never its
    value.
    """


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of a secret."""

    text: str = field(repr=False)
    version: int
    """The version in the store."""
    problem: str = ""
    """The reason why the text may be outdated, or ""."""


class SecretSource(Protocol):
    """A store of secrets, such as Vault, that is outside the database."""

    async def read(self, reference: str) -> SourceText:
        """Return the text of a secret. Raises `SourceFailed` if it cannot be read."""
        ...
