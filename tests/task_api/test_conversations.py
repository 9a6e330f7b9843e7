"""Conversations over HTTP: programs list, read and delete their own."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from channels.db import database_sync_to_async
from channels.routing import URLRouter
from channels.testing import HttpCommunicator
from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import ApiKey, AuditEntry
from apps.conversations.models import Conversation, Message
from apps.task_api.routing import urlpatterns
from tests.catalog.rows import make_application
from tests.contract import proves

pytestmark = pytest.mark.django_db

ADDRESS = "/api/IAIAssistantApi/conversations"
BEGIN = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture
def key() -> str:
    return str(ApiKey.objects.create_key(name="program")[1])


def make_conversations(key: str, count: int, slug: str = "travel") -> list[str]:
    application = make_application(slug)
    rows = [
        Conversation.objects.create(
            application=application,
            owner=f"key-{key[:8]}",
            title=f"{slug} {number}",
            updated_at=BEGIN + timedelta(hours=number // 2),
        )
        for number in range(count)
    ]
    return [str(row.pk) for row in rows]


async def ask(key: str, path: str = "", method: str = "GET", body: bytes = b"") -> tuple[int, Any]:
    headers = [(b"host", b"localhost"), (b"api-key", key.encode())]
    exchange = HttpCommunicator(
        URLRouter(urlpatterns), method, f"{ADDRESS}{path}", body=body, headers=headers
    )
    exchange.scope["user"] = AnonymousUser()
    answer = await exchange.get_response(60)
    return answer["status"], json.loads(answer["body"])


@proves("T-41")
async def test_a_program_pages_through_its_conversations_and_through_no_others(key):
    mine = await database_sync_to_async(make_conversations)(key, 5)
    await database_sync_to_async(make_conversations)("another1", 2, "other")
    await Conversation.objects.filter(pk=mine[4]).aupdate(is_unread=True)

    found: list[Any] = []
    page: Any = {}
    after = ""
    for expected in (2, 2, 1):
        status, page = await ask(key, f"?limit=2{after}")
        assert (status, len(page["conversations"])) == (200, expected)
        found += page["conversations"]
        after = f"&after={page['next']}"

    assert page["next"] is None
    assert {entry["id"] for entry in found} == set(mine)
    assert found[0] == {
        "id": mine[4],
        "title": "travel 4",
        "application": "travel",
        "updated_at": "2026-11-01T02:00:00+00:00",
        "state": "unread",
    }
    assert (await ask(key, "?application=other"))[1] == {"conversations": [], "next": None}
    assert len((await ask(key, "?application=travel"))[1]["conversations"]) == 5


@proves("T-41")
async def test_a_conversation_is_read_with_its_messages_and_without_summaries(key):
    [mine] = await database_sync_to_async(make_conversations)(key, 1)
    asked = await Message.objects.acreate(conversation_id=mine, role="user", text="Why?")
    answer = await Message.objects.acreate(
        conversation_id=mine, role="assistant", text="So.", finish_reason="stop"
    )
    await Message.objects.acreate(conversation_id=mine, role="summary", text="!", parent=answer)

    status, found = await ask(key, f"/{mine}")

    assert (status, found["title"], found["participants"]) == (
        *(200, "travel 0"),
        [f"key-{key[:8]}", "application:travel"],
    )
    assert [(one["id"], one["role"], one["text"]) for one in found["messages"]] == [
        (str(asked.uuid), "user", "Why?"),
        (str(answer.uuid), "assistant", "So."),
    ]


@proves("T-41")
async def test_a_deleted_conversation_is_gone_and_the_audit_says_so(key):
    [mine] = await database_sync_to_async(make_conversations)(key, 1)

    deleted = await ask(key, f"/{mine}/delete", "POST", b"{}")

    assert deleted == (200, {"id": mine, "deleted": True})
    assert (await ask(key, f"/{mine}/delete", "POST"))[0] == 404
    assert not await Conversation.objects.filter(pk=mine).aexists()
    entry = await AuditEntry.objects.aget(event="conversation.deleted")
    assert (entry.actor, entry.application, entry.conversation) == (
        *(f"key-{key[:8]}", "travel"),
        UUID(mine),
    )


@proves("T-41")
async def test_those_of_others_look_as_if_there_were_none(key):
    [others] = await database_sync_to_async(make_conversations)("another1", 1)
    missing = str(uuid4())

    for path, method in (("/{}", "GET"), ("/{}/delete", "POST"), ("?after={}", "GET")):
        answers = [await ask(key, path.format(one), method) for one in (others, missing)]
        assert answers[0] == answers[1]
        assert answers[0][0] == 404
    assert await Conversation.objects.filter(pk=others).aexists()


WRONG = [
    "?limit=0",
    "?limit=201",
    "?limit=99999",
    "?limit=x",
    "?after=x",
    "?page=2",
    "?limit=1&limit=2",
    "?%ff",
]


async def test_a_query_that_makes_no_sense_is_told(key):
    told = {query: await ask(key, query) for query in WRONG}

    assert {query: (status, body["error"]["code"]) for query, (status, body) in told.items()} == (
        dict.fromkeys(WRONG, (400, "bad_request"))
    )
