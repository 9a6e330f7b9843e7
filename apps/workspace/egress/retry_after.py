"""The header with which a service tells when it wants to be asked again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

OF_THE_MOMENT = frozenset({408, 425, 429})
"""Refusals that say nothing about the request itself."""


def is_lasting(status: int) -> bool:
    """Whether the same request would be refused again."""
    return status < 500 and status not in OF_THE_MOMENT


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from now, at least 0; None when the header is missing or says nothing of use."""
    written = headers.get("retry-after", "").strip()
    if written.isascii() and written.isdigit():
        return float(written) if len(written) < 10 else None
    try:
        moment = parsedate_to_datetime(written)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
