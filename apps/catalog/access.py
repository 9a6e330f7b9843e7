"""Who may use which application.

Everybody may use public ones, people who are signed in may use all of them, a key those of its
scope.
"""

from __future__ import annotations

from django.db.models import QuerySet

from apps.accounts.caller import Caller
from apps.catalog.models import Application
from apps.catalog.resolve import ResolvedApplication


def may_use(application: ResolvedApplication, caller: Caller) -> bool:
    if caller.kind == "visitor":
        return application.is_public
    return caller.scope is None or application.id in caller.scope


def usable(caller: Caller) -> QuerySet[Application]:
    """The enabled applications that the caller may use, by title."""
    enabled = Application.objects.filter(is_enabled=True)
    if caller.kind == "visitor":
        return enabled.filter(is_public=True)
    return enabled if caller.scope is None else enabled.filter(pk__in=caller.scope)
