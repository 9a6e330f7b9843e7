"""Failures of calls to Core. Its refusals are plain text, DIAL's JSON, or empty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from apps.accounts.caller import Caller
from apps.errors import ServiceFailed

SHOWN = 300
"""Characters of Core's message that are repeated."""
MOST_ERROR_BYTES = 64 * 1024
"""Read of an answer that is not 2xx."""
PASSING = frozenset({429, 502, 503, 504})
"""Temporary statuses: the same request may succeed later."""


class CoreRefused(ServiceFailed):
    """An answer that is not 2xx; `details` is Core's message without the caller's secrets."""

    def __init__(self, call: str, status: int, details: str, retry_after: float | None) -> None:
        said = f": {details}" if details else "."
        super().__init__(f"DIAL Core answered {call} with status {status}{said}", status=status)
        self.details = details
        self.retry_after = retry_after


class CoreBroken(ServiceFailed):
    """The connection failed, before an answer or in the middle of it."""


class CoreUnreachable(CoreBroken):
    """No connection was made, so nothing was done."""


class AnswerTooLarge(ServiceFailed): ...


def read_error(body: bytes) -> Mapping[str, Any]:
    """DIAL's error object in a body; {} for none."""
    try:
        written = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}
    if not isinstance(written, Mapping):
        return {}
    error = written.get("error", written)
    return error if isinstance(error, Mapping) else {"message": error}


def details_of(body: bytes, caller: Caller) -> str:
    """One line for the log, without a proxy's HTML page and the caller's secrets."""
    error = read_error(body)
    said = error.get("message") or error.get("display_message")
    text = said if isinstance(said, str) else "" if error else body.decode("utf-8", "replace")
    if text.lstrip().startswith("<"):
        return ""
    for secret in filter(None, (caller.api_key, caller.bearer)):
        text = text.replace(secret, "…")
    line = "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
