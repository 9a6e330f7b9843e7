"""Programs that were refused, in the audit: once a minute for each address and application."""

from collections.abc import Mapping
from typing import Any

from apps.accounts.addresses import address_of_scope
from apps.accounts.audit import AuditEvent
from apps.aged_cache import AgedCache
from apps.errors import ApplicationNotFound, NotAuthenticated
from apps.live.hub import HUB

ONCE_IN_SECONDS = 60.0
"""A program that tries again and again must not fill the audit."""
_noted: AgedCache[tuple[str, str], bool] = AgedCache()


def note_denial(scope: Mapping[str, Any], application: str, error: Exception) -> None:
    if not isinstance(error, NotAuthenticated | ApplicationNotFound):
        return
    address = address_of_scope(scope)
    if _noted.get((address, application), ONCE_IN_SECONDS):
        return
    _noted.put((address, application), True)
    denied = AuditEvent(
        "access.denied", address=address, application=application, subject=scope["path"]
    )
    HUB.summaries.keep_audit(denied)
