"""Serves the endpoints that list, return and delete the caller's conversations."""

from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings
from django.db.models import Q

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.accounts.caller import Caller
from apps.conversations.access import NOT_FOUND, own, own_lasting, person_stream, record_denial
from apps.conversations.branches import path
from apps.conversations.listing import list_entries
from apps.conversations.models import Conversation, Message
from apps.conversations.outcome.figures import figures_of, visible_metrics
from apps.doors.json_consumer import JsonConsumer
from apps.errors import Missing, Refused
from apps.integers import read_integer
from apps.live.journal.notifications import announce_growth

LISTED = 50
MOST_LISTED = 200


class ConversationsConsumer(JsonConsumer):
    """Serves `GET /api/IAIAssistantApi/conversations?application=&after=&limit=`, which lists the
    caller's conversations, newest first.
    """

    async def answer(self) -> None:
        caller = await self.caller()
        await self.read_body(0)
        query = read_query(self.scope["query_string"])
        await self.send_json(200, await database_sync_to_async(list_conversations)(caller, query))


class ConversationConsumer(JsonConsumer):
    """Serves `GET /api/IAIAssistantApi/conversations/{id}`. The response contains the messages."""

    async def answer(self) -> None:
        caller = await self.caller()
        await self.read_body(0)
        pk: UUID = self.scope["url_route"]["kwargs"]["conversation"]
        await self.send_json(200, await database_sync_to_async(conversation)(caller, pk))


class DeletionConsumer(JsonConsumer):
    """Serves `POST /api/IAIAssistantApi/conversations/{id}/delete`, which deletes a conversation
    and stops its answer in progress.
    """

    methods = ("POST",)

    async def answer(self) -> None:
        caller = await self.caller()
        await self.read_body(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)  # Many clients send {}.
        pk: UUID = self.scope["url_route"]["kwargs"]["conversation"]
        await database_sync_to_async(delete)(caller, pk)
        await announce_growth(person_stream(caller.bucket))
        await self.send_json(200, {"id": str(pk), "deleted": True})


def read_query(written: bytes) -> dict[str, str]:
    """Parse the query string. Raises `Refused` if a parameter is unknown or repeated."""
    try:
        found = parse_qs(written.decode(), keep_blank_values=True, strict_parsing=bool(written))
    except ValueError:
        raise Refused("bad_request", "The query cannot be parsed.") from None
    for name, values in found.items():
        if name not in {"application", "after", "limit"} or len(values) > 1:
            raise Refused("bad_request", "Use only application, after and limit, each once.")
    return {name: values[0] for name, values in found.items()}


def list_conversations(caller: Caller, query: dict[str, str]) -> dict[str, Any]:
    """Return a page of the caller's conversations as JSON. `next` is the value of `after` for the
    next page, or None. Raises `Refused` if a parameter is invalid.
    """
    limit = read_integer(query.get("limit", str(LISTED)), MOST_LISTED)
    if not limit:
        raise Refused("bad_request", f"limit: use a number from 1 to {MOST_LISTED}.")
    rows = own_lasting(caller).order_by("-updated_at", "-pk").select_related("application")
    if "application" in query:
        slug = query["application"]
        rows = rows.filter(Q(application__slug=slug) | Q(application=None, former_slug=slug))
    if "after" in query:
        last = find(caller, read_id(query["after"]))
        older = Q(updated_at=last.updated_at, pk__lt=last.pk)
        rows = rows.filter(Q(updated_at__lt=last.updated_at) | older)
    page = list(rows[: limit + 1])
    shown = page[:limit]
    told = [
        {**entry, "application": row.application_slug}
        for row, entry in zip(shown, list_entries(caller, shown), strict=True)
    ]
    return {"conversations": told, "next": told[-1]["id"] if len(page) > len(shown) else None}


def read_id(written: str) -> UUID:
    try:
        return UUID(written)
    except ValueError:
        raise Refused("bad_request", "after: use the ID of a conversation.") from None


def conversation(caller: Caller, pk: UUID) -> dict[str, Any]:
    """Return the conversation with its messages as JSON. Raises `Missing` if the caller has no such
    conversation.
    """
    row = find(caller, pk)
    [entry] = list_entries(caller, [row])
    return {
        **entry,
        "application": row.application_slug,
        "created_at": row.created_at.isoformat(),
        "participants": [row.owner, f"application:{row.application_slug}"],
        "messages": [message(one) for one in path(row)],
    }


def message(row: Message) -> dict[str, Any]:
    return {
        "id": str(row.uuid),
        "role": row.role,
        "text": row.text,
        "attachments": row.attachments,
        "finish_reason": row.finish_reason or None,
        "created_at": row.created_at.isoformat(),
        **({"sender": row.sender} if row.sender else {}),
        **visible_metrics(figures_of(row.usage)),
    }


def find(caller: Caller, pk: UUID) -> Conversation:
    """Return the caller's conversation with this ID. Raises `Missing` if there is none."""
    row = own(caller).select_related("application").filter(pk=pk).first()
    if row is None:
        record_denial(caller, pk, "")
        raise Missing(NOT_FOUND, "This conversation does not exist.")
    return row


def delete(caller: Caller, pk: UUID) -> None:
    """Permanently delete a conversation. Raises `Missing` if the caller does not have it."""
    row = find(caller, pk)
    slug = row.application_slug
    row.delete()
    audit.record(AuditEvent("conversation.deleted", caller.bucket, caller.client.address, slug, pk))
