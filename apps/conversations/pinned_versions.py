"""Pins conversations to the version of the application with which they started."""

from uuid import UUID

from channels.db import database_sync_to_async

from apps.accounts.caller import Caller
from apps.catalog import resolve
from apps.catalog.models import Application
from apps.catalog.resolved_application import ResolvedApplication
from apps.conversations.access import own
from apps.conversations.models import Conversation
from apps.errors import ApplicationNotFound


def pin_version(row: Application, number: int) -> None:
    """Pin the application's unpinned conversations to version `number`. Call this before another
    version is published.
    """
    Conversation.objects.filter(application=row.pk, pinned_version=None).update(
        pinned_version=number
    )


async def find_for(slug: str, caller: Caller, conversation: UUID | None) -> ResolvedApplication:
    """Return the version of the application that answers in a conversation: the pinned version or,
    if there is none or it was withdrawn, the live version. Raises the same exceptions as
    `resolve.find`.
    """
    live = await resolve.find(slug, caller)
    if conversation is None:
        return live
    number = await database_sync_to_async(pinned_version)(caller, conversation)
    if number is None or number == live.number:
        return live
    try:
        return await resolve.find(f"{slug}@{number}", caller)
    except ApplicationNotFound:
        return live


def pinned_version(caller: Caller, conversation: UUID) -> int | None:
    rows = own(caller).filter(pk=conversation)
    found: int | None = rows.values_list("pinned_version", flat=True).first()
    return found
