"""Redacts credentials in a server's messages, because a server may repeat what it received."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import msgspec
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from apps.capabilities.wrappers.redaction import (
    MOST_LAYERS,
    CredentialPatterns,
    credential_patterns,
    find_credentials,
    hide_credentials,
)
from apps.manifest.secrets import reads_as_credential

LISTS = frozenset({"tools", "resources"})
REDACTED = frozenset({"title", "description"})
"""Only these fields of list entries are redacted. Other fields identify the entries and must not
change.
"""


class SentCredentials:
    """Collects the credentials sent in one session, and redacts them in received messages."""

    def __init__(self) -> None:
        self.credentials: set[str] = set()
        self.patterns: CredentialPatterns = credential_patterns(())

    def add(self, *credentials: str) -> None:
        if not self.credentials.issuperset(credentials):
            self.credentials |= set(credentials)
            self.patterns = credential_patterns(self.credentials)

    def add_named(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Add the values whose header or variable names suggest credentials."""
        for name, value in pairs:
            if reads_as_credential(name):
                kind, _, rest = value.partition(" ")
                self.add(rest.strip() if kind.lower() in {"bearer", "basic"} else value)

    def redacted(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if not self.patterns.texts or isinstance(item, Exception):
            return item
        match item.message:
            case JSONRPCResponse() as message if self.may_repeat(message.result):
                changes: dict[str, Any] = {"result": self.redact_result(message.result)}
            case JSONRPCError() as message:
                error = message.error
                changed = {"message": self.redact(error.message), "data": self.redact(error.data)}
                changes = {"error": error.model_copy(update=changed)}
            case JSONRPCNotification() | JSONRPCRequest() as message if self.may_repeat(
                message.params
            ):
                changes = {"params": self.redact(message.params)}
            case _:
                return item
        return replace(item, message=message.model_copy(update=changes))

    def may_repeat(self, value: Any) -> bool:
        """Return True if a value may contain a credential. This is much faster than redacting the
        value.
        """
        try:
            written = msgspec.json.encode(value).decode()
        except (TypeError, ValueError, OverflowError):
            return True  # The message contains numbers that are too long, or invalid characters.
        return any(True for _ in find_credentials(written, self.patterns, MOST_LAYERS + 1))

    def redact_result(self, result: Mapping[str, Any]) -> dict[str, Any]:
        return {
            key: [self.redact_entry(entry) for entry in value]
            if key in LISTS and isinstance(value, list)
            else self.redact(value)
            for key, value in result.items()
        }

    def redact_entry(self, entry: Any) -> Any:
        if not isinstance(entry, dict):
            return entry
        return {key: self.redact(one) if key in REDACTED else one for key, one in entry.items()}

    def redact(self, value: Any) -> Any:
        match value:
            case str():
                return hide_credentials(value, self.patterns)
            case list():
                return [self.redact(one) for one in value]
            case dict():
                return {self.redact(key): self.redact(one) for key, one in value.items()}
            case _:
                return value
