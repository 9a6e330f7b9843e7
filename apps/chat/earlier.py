"""What the model of a run may find in the earlier conversations of its person."""

from collections.abc import Sequence
from functools import partial
from uuid import UUID

from channels.db import database_sync_to_async
from django.urls import reverse

from apps.accounts.caller import Caller
from apps.capabilities.found_conversations import FoundConversation, SearchConversations
from apps.catalog.resolved_application import ResolvedApplication
from apps.chat.access import own_lasting
from apps.chat.search import search


def earlier_conversations(
    caller: Caller, application: ResolvedApplication, current: UUID
) -> SearchConversations | None:
    """A search that leaves out the `current` conversation; None for a caller without an account."""
    if caller.kind != "user":
        return None
    find: SearchConversations = database_sync_to_async(
        partial(find_earlier, caller, application, current)
    )
    return find


def find_earlier(
    caller: Caller, application: ResolvedApplication, current: UUID, query: str, most: int
) -> Sequence[FoundConversation]:
    mine = own_lasting(caller).filter(application=application.id).exclude(pk=current)
    return [
        FoundConversation(
            hit.title,
            reverse("conversation", args=(application.slug, hit.id)),
            hit.updated_at,
            hit.excerpt,
        )
        for hit in search(mine, query, most)
    ]
