"""Temporary chats are not listed or remembered, and are deleted soon."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import time_machine
from asgiref.sync import sync_to_async
from django.test import Client
from django.utils import timezone

from apps.accounts.caller import Caller
from apps.chat.rail import content
from apps.chat.rail.content import RailUpdates
from apps.conversations import temporary
from apps.conversations.access import own
from apps.conversations.keeping.arrangement import erase_temporary
from apps.conversations.models import Conversation, Message
from apps.insights.models import ModelCall
from apps.live.models import JournalEntry, Run, RunSummary
from apps.task_api.conversations import list_conversations as told_to_programs
from tests.chat.pages.test_views import add_application, add_conversation, visiting
from tests.chat.scripts import PATIENCE, Visitor, says, scene

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def make_temporary(conversation: Conversation, until: datetime) -> None:
    Conversation.objects.filter(pk=conversation.pk).update(temporary_until=until)


async def begun(on: Any, **more: Any) -> tuple[Any, Conversation]:
    """Return a tab with a temporary conversation that has an answer."""
    tab = await on.visitor.tab(on.hub)
    await tab.exchange("Tell me", says("A secret"), temporary=True, **more)
    return tab, await Conversation.objects.aget(pk=tab.conversation)


async def until_of(pk: UUID) -> datetime:
    found = await Conversation.objects.aget(pk=pk)
    assert found.temporary_until is not None
    return found.temporary_until


async def test_it_stands_in_no_list_and_has_no_memory():
    async with scene() as on:
        _, found = await begun(on, memory=True)
        caller = Caller(on.visitor.bucket)

        page = await sync_to_async(content.first_page)(caller)
        news = await sync_to_async(RailUpdates().read)(caller)
        programs = await sync_to_async(told_to_programs)(caller, {})
        mine = await sync_to_async(own(caller).count)()

    assert (page["conversations"], news, programs["conversations"]) == ([], None, [])
    assert (mine, found.has_memory) == (1, False)
    assert found.temporary_until is not None
    left = found.temporary_until - timezone.now()
    assert timedelta(hours=23, minutes=55) < left <= timedelta(hours=24)


async def test_leaving_it_is_noticed_and_so_is_the_way_back():
    async with scene() as on:
        tab, found = await begun(on)
        await tab.disconnect(code=1001, timeout=PATIENCE)
        left = await until_of(found.pk)
        again = await on.visitor.tab(on.hub)
        await again.send_json_to({"type": "open", "conversation": str(found.pk)})
        await again.receive_json_from(PATIENCE)
        back = await until_of(found.pk)
        await again.disconnect(code=1006, timeout=PATIENCE)
        broken_off = await until_of(found.pk)

    assert left - timezone.now() <= temporary.GRACE
    assert back == broken_off == found.updated_at + temporary.STAY


async def test_another_conversation_in_its_tab_is_a_way_of_leaving():
    async with scene() as on:
        tab, found = await begun(on)
        await tab.send_json_to({"type": "open", "conversation": None})
        await tab.send_json_to({"type": "stop"})
        await tab.receive_json_from(PATIENCE)

        left = await until_of(found.pk)

    assert left - timezone.now() <= temporary.GRACE


async def test_when_its_time_is_over_only_the_figures_stay():
    async with scene() as on:
        await begun(on)
        with time_machine.travel(timezone.now() + temporary.STAY + timedelta(minutes=1)):
            erased = await sync_to_async(erase_temporary)()

    assert (erased, await sync_to_async(erase_temporary)()) == (1, 0)
    for rows in (Conversation, Message, Run, JournalEntry):
        assert not await rows.objects.aexists()
    for figures in (RunSummary, ModelCall):
        assert await figures.objects.acount() == 1


def test_others_stay_and_so_does_one_whose_time_has_not_come():
    application, client = add_application(), visiting()
    kept, soon = (add_conversation(application, client) for _ in range(2))
    make_temporary(soon, NOON + timedelta(minutes=1))

    with time_machine.travel(NOON, tick=False):
        assert erase_temporary() == 0
    with time_machine.travel(NOON + timedelta(minutes=2), tick=False):
        assert erase_temporary() == 1

    assert [one.pk for one in Conversation.objects.all()] == [kept.pk]


def test_keeping_it_makes_it_one_as_any_other():
    application, client = add_application(), visiting()
    found = add_conversation(application, client, "Secret")
    make_temporary(found, timezone.now() + temporary.STAY)
    address = f"/chat/{application.slug}/{found.pk}/keep/"
    before = client.get("/conversations/search/?q=secret").json()["hits"]
    groups = {
        one["title"]
        for query in ("secret", "")
        for one in client.get(f"/find/?q={query}").json()["groups"]
    }

    foreign = Client().post(address)
    kept = client.post(address)

    assert (before, foreign.status_code, kept.status_code) == ([], 404, 302)
    assert "Conversations" not in groups
    [hit] = client.get("/conversations/search/?q=secret").json()["hits"]
    assert hit["id"] == str(found.pk)
    with time_machine.travel(timezone.now() + timedelta(days=2)):
        assert erase_temporary() == 0


async def test_what_was_said_in_it_is_not_sent_along_with_feedback():
    async with scene() as on:
        _, found = await begun(on)
        answer = await found.messages.alast()
        client = Client()
        session = (await client.asession()).session_key or ""
        visitor = Visitor(on.application, on.model, session_key=session)
        await Conversation.objects.filter(pk=found.pk).aupdate(owner=visitor.bucket)
        rated = {"rating": "down", "reason": "wrong", "comment": ""}
        address = f"/messages/{answer.uuid}/feedback/"  # type: ignore[union-attr]

        refused = await sync_to_async(client.post)(address, {**rated, "shares_transcript": "on"})
        taken = await sync_to_async(client.post)(address, rated)

    assert refused.json()["errors"]["shares_transcript"] == [
        "Messages from a temporary chat can’t be included in feedback."
    ]
    assert taken.status_code == 200
