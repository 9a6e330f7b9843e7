"""The conversations of a program or a person, over HTTP: list, read, delete."""

from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from channels.db import database_sync_to_async
from django.db.models import Q

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.accounts.caller import Caller
from apps.chat.access import NOT_FOUND, own, own_lasting, person_stream, record_denial
from apps.chat.branches import path
from apps.chat.figures import figures_of, shown
from apps.chat.json_consumer import JsonConsumer
from apps.chat.listing import entries
from apps.chat.models import Conversation, Message
from apps.errors import Missing, Refused
from apps.integers import read_integer
from apps.live.notifications import announce_growth

LISTED = 50
MOST_LISTED = 200


class ConversationsConsumer(JsonConsumer):
    """`GET /api/IAIAssistantApi/conversations?application=&after=&limit=`: the newest first."""

    async def answer(self) -> None:
        caller = await self.caller()
        await self.read_body(0)
        query = read_query(self.scope["query_string"])
        await self.send_json(200, await database_sync_to_async(listed)(caller, query))


class ConversationConsumer(JsonConsumer):
    """`GET /api/IAIAssistantApi/conversations/{id}`: with its questions and answers."""

    async def answer(self) -> None:
        caller = await self.caller()
        await self.read_body(0)
        pk: UUID = self.scope["url_route"]["kwargs"]["conversation"]
        await self.send_json(200, await database_sync_to_async(conversation)(caller, pk))


class DeletionConsumer(JsonConsumer):
    """`POST /api/IAIAssistantApi/conversations/{id}/delete`; an answer that is written stops."""

    method = "POST"

    async def answer(self) -> None:
        caller = await self.caller()
        await self.read_body(0)
        pk: UUID = self.scope["url_route"]["kwargs"]["conversation"]
        await database_sync_to_async(delete)(caller, pk)
        await announce_growth(person_stream(caller.bucket))
        await self.send_json(200, {"id": str(pk), "deleted": True})


def read_query(written: bytes) -> dict[str, str]:
    """Raises `Refused` for a parameter that there is not, or that is given twice."""
    try:
        found = parse_qs(written.decode(), keep_blank_values=True, strict_parsing=bool(written))
    except ValueError:
        raise Refused("bad_request", "The query cannot be read.") from None
    for name, values in found.items():
        if name not in {"application", "after", "limit"} or len(values) > 1:
            raise Refused("bad_request", "Write application, after and limit, each once at most.")
    return {name: values[0] for name, values in found.items()}


def listed(caller: Caller, query: dict[str, str]) -> dict[str, Any]:
    """A page of the list; `next` is the `after` of the following one. Raises `Refused`."""
    limit = read_integer(query.get("limit", str(LISTED)), MOST_LISTED)
    if not limit:
        raise Refused("bad_request", f"limit: write a number from 1 to {MOST_LISTED}.")
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
        for row, entry in zip(shown, entries(caller, shown), strict=True)
    ]
    return {"conversations": told, "next": told[-1]["id"] if len(page) > len(shown) else None}


def read_id(written: str) -> UUID:
    try:
        return UUID(written)
    except ValueError:
        raise Refused("bad_request", "after: write the id of a conversation.") from None


def conversation(caller: Caller, pk: UUID) -> dict[str, Any]:
    """Raises `Refused`."""
    row = find(caller, pk)
    [entry] = entries(caller, [row])
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
        **shown(figures_of(row.usage)),
    }


def find(caller: Caller, pk: UUID) -> Conversation:
    """Raises `Refused`, for another's as for a missing one."""
    row = own(caller).select_related("application").filter(pk=pk).first()
    if row is None:
        record_denial(caller, pk, "")
        raise Missing(NOT_FOUND, "There is no such conversation.")
    return row


def delete(caller: Caller, pk: UUID) -> None:
    """Delete a conversation and write it into the audit. Raises `Refused`."""
    row = find(caller, pk)
    slug = row.application_slug
    row.delete()
    audit.record(AuditEvent("conversation.deleted", caller.bucket, caller.address, slug, pk))
