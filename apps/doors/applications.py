"""The application that a request names, if its sender may use it."""

from django.core.validators import slug_re

from apps.accounts.caller import Caller
from apps.catalog import access
from apps.catalog.resolve import versioned_name
from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.quotes import shortened
from apps.errors import ApplicationNotFound, NotAuthenticated, QuickAppError


def hidden(slug: str, caller: Caller) -> QuickAppError:
    """The same error for a missing application and for one that the caller may not use."""
    # A visitor is told that a key might help.
    return NotAuthenticated() if caller.kind == "visitor" else ApplicationNotFound(shortened(slug))


async def find(slug: str, caller: Caller) -> ResolvedApplication:
    """The application, or the version `slug@3` of it, if the caller may use it.

    Raises `hidden`, `ApplicationBroken`.
    """
    checked(versioned_name(slug)[0], caller)
    try:
        return await access.find(slug, caller)
    except ApplicationNotFound:
        raise hidden(slug, caller) from None


def checked(slug: str, caller: Caller) -> str:
    """The slug, if it has the form of one. Raises `hidden`."""
    if not slug_re.match(slug):
        raise hidden(slug, caller)
    return slug
