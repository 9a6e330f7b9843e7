"""Sources of a secret's text: its row, or a store that the row refers to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


class SourceFailed(Exception):
    """Raised if a secret cannot be read. The message contains its path in the store, never its
    value.
    """


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of a secret. `version` is its version in the store; `problem` is the reason why the
    text may be outdated, or "" if it is current.
    """

    text: str = field(repr=False)
    version: int
    problem: str = ""


class SecretSource(Protocol):
    """A store of secrets, such as Vault."""

    async def read(self, reference: str) -> SourceText:
        """Read a secret's text. Raises `SourceFailed` if that fails."""
        ...
