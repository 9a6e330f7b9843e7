"""The audit of conversations: events with user, time, object and origin, and never a text."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.utils import timezone

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.accounts.models import AuditEntry
from apps.agent.meter import ToolCallReport
from apps.conversations.models import Conversation
from apps.insights.meter import RunMeter
from apps.live.database import on_a_thread
from apps.live.history.summary_writer import RunSummaryWriter
from apps.live.models import Run
from tests.chat.pages.test_views import add_application, add_conversation, visiting
from tests.chat.scripts import Scene, says, scene, settled
from tests.contract import proves

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

FIELDS = ("event", "actor", "application", "conversation", "run", "subject")


async def events() -> list[tuple[Any, ...]]:
    rows = AuditEntry.objects.order_by("pk").values_list(*FIELDS)
    return [row async for row in rows]


async def converse(on: Scene, *questions: str) -> str:
    tab = await on.visitor.tab(on.hub)
    for question in questions:
        await tab.exchange(question, says("Secret words"))
    await settled(on.hub)
    return tab.conversation


@proves("T-63")
async def test_t_63_a_conversation_leaves_an_event_for_each_thing_that_happens():
    async with scene() as on:
        await converse(on, "How warm is it?", "And in Lima?")
        slug, bucket = on.application.slug, on.visitor.bucket
    first, second = [run async for run in Run.objects.order_by("started_at")]
    conversation = first.stream

    assert await events() == [
        ("conversation.created", bucket, slug, conversation, first.pk, ""),
        ("message.sent", bucket, slug, conversation, first.pk, ""),
        ("message.received", bucket, slug, conversation, first.pk, ""),
        ("message.sent", bucket, slug, conversation, second.pk, ""),
        ("message.received", bucket, slug, conversation, second.pk, ""),
    ]
    written = str([row async for row in AuditEntry.objects.values()])
    assert "Secret" not in written
    assert "warm" not in written


@proves("T-63")
async def test_t_63_the_call_of_a_tool_in_a_conversation_is_an_event():
    writer = RunSummaryWriter(on_a_thread)
    run, conversation = uuid4(), uuid4()

    RunMeter(writer.queue_call, "page", "user-1", run, conversation, "travel", 1).tool_called(
        ToolCallReport("get_weather", 1, 0.2)
    )
    RunMeter(writer.queue_call, "gateway", "key-1", run).tool_called(ToolCallReport("x", 1, 0.2))
    await writer.close()

    # A program's calls are already rows of tool calls.
    assert await events() == [
        ("tool.executed", "user-1", "travel", conversation, run, "get_weather")
    ]


@proves("T-63")
def test_t_63_who_deletes_a_conversation_and_whose_it_was_not_is_in_the_audit():
    application = add_application()
    client, stranger = visiting(f"/chat/{application.slug}/"), visiting("/")
    conversation = add_conversation(application, client)
    address = f"/chat/{application.slug}/{conversation.pk}/"

    assert stranger.get(address).status_code == 302
    assert stranger.post(f"{address}delete/").status_code == 404
    assert client.post(f"{address}delete/", REMOTE_ADDR="10.0.0.7").status_code == 302

    rows = AuditEntry.objects.order_by("pk").values_list("event", "address", "conversation")
    assert list(rows) == [
        ("access.denied", "127.0.0.1", conversation.pk),
        ("access.denied", "127.0.0.1", conversation.pk),
        ("conversation.deleted", "10.0.0.7", conversation.pk),
    ]
    assert not Conversation.objects.undeleted().exists()


def test_a_conversation_that_there_is_not_is_no_denial():
    application = add_application()
    client = visiting(f"/chat/{application.slug}/")

    assert client.get(f"/chat/{application.slug}/{uuid4()}/").status_code == 302

    assert not AuditEntry.objects.exists()


def test_old_events_are_deleted(settings):
    settings.AUDIT_DAYS = 30
    audit.record(AuditEvent("message.sent", subject="x" * 300))
    audit.record(AuditEvent("message.sent", at=(timezone.now() - timedelta(days=31)).timestamp()))

    assert audit.delete_old() == 1
    assert AuditEntry.objects.get().subject == "x" * 255
    settings.AUDIT_DAYS = 0
    assert audit.delete_old() == 0


def test_the_audit_is_read_by_staff_with_its_permission_and_changed_by_nobody(client):
    audit.record(AuditEvent("message.sent", "user-1", "10.0.0.7", "travel"))
    audit.record(AuditEvent("access.denied", "user-2", "10.0.0.8", "travel"))
    staff = User.objects.create_user("auditor", is_staff=True)
    client.force_login(staff)
    page = "/admin/accounts/auditentry/"
    assert client.get(page).status_code == 403

    for name in ("view_auditentry", "see_all_applications"):
        staff.user_permissions.add(Permission.objects.get(codename=name))
    found = client.get(f"{page}?event__exact=access.denied")
    searched = client.get(f"{page}?q=user-1")

    assert [row.actor for row in found.context["cl"].result_list] == ["user-2"]
    assert [row.event for row in searched.context["cl"].result_list] == ["message.sent"]
    pk = AuditEntry.objects.first().pk  # type: ignore[union-attr]
    assert client.post(f"{page}{pk}/delete/", {"post": "yes"}).status_code == 403
    assert client.get(f"{page}add/").status_code == 403


async def test_asking_in_the_conversation_of_another_is_denied():
    async with scene() as on:
        conversation = await converse(on, "Mine")
        await AuditEntry.objects.all().adelete()
        on.visitor.session.session_key = "browser-2"
        tab = await on.visitor.tab(on.hub)
        frame = await tab.refusal(conversation=conversation)

    assert frame["code"] == "conversation_not_found"
    assert [row[0] for row in await events()] == ["access.denied"]
