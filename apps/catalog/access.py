"""Access to applications.

Visitors may use public ones, signed-in people all of them, keys the ones in their scope.
"""

from django.db.models import QuerySet

from apps.accounts.caller import Caller
from apps.catalog.models import Application
from apps.catalog.resolve import ResolvedApplication, resolve
from apps.errors import ApplicationBroken, ApplicationNotFound


async def find(slug: str, caller: Caller) -> ResolvedApplication:
    """Raises `ApplicationNotFound`, also if the caller may not use it, and `ApplicationBroken`."""
    try:
        application = await resolve(slug)
    except ApplicationBroken:
        if not await usable(caller).filter(slug=slug).aexists():
            raise ApplicationNotFound(slug) from None
        raise
    if not may_use(application, caller):
        raise ApplicationNotFound(slug)
    return application


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
