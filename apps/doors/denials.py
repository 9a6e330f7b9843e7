"""Programs that were refused, in the audit: once a minute for each address, door and application."""

from collections.abc import Mapping
from typing import Any

from apps.accounts.addresses import address_of_scope
from apps.accounts.audit import AuditEvent
from apps.aged_cache import AgedCache
from apps.errors import ApplicationNotFound, NotAuthenticated
from apps.live.hub import HUB

ONCE_IN_SECONDS = 60.0
"""A program that tries again and again must not fill the audit."""
DENIALS = NotAuthenticated, ApplicationNotFound
_noted: AgedCache[tuple[str, str, str], bool] = AgedCache()


def note_denial(scope: Mapping[str, Any], door: str, application: str = "") -> None:
    """`door` is the name of what refused, so that each one is in the audit."""
    address = address_of_scope(scope)
    key = address, door, application
    if _noted.get(key, ONCE_IN_SECONDS):
        return
    _noted.put(key, True)
    denied = AuditEvent(
        "access.denied", address=address, application=application, subject=scope["path"]
    )
    HUB.summaries.keep_audit(denied)
