"""The model of a run finds earlier conversations of its user only."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from channels.db import database_sync_to_async
from django.contrib.auth.models import User

from apps.accounts.caller import Caller
from apps.agent.tools import ToolSpec
from apps.capabilities.conversations.capability import NONE, TOOL_NAME
from apps.conversations.answering.requests import earlier_conversations
from apps.conversations.models import Conversation, Message
from tests.chat.scripts import MANIFEST, Scene, Visitor, add_application, scene
from tests.fakes import calling, saying

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_predefined")]

FEATURES = {"timestamp": None, "search_conversations": {"enabled": True}}
SEARCHING = {**MANIFEST, "features": FEATURES}
SEARCH = calling(("c1", TOOL_NAME, {"query": "hotel"}))


async def said(text: str, owner: str, application: Any, title: str = "Earlier") -> Conversation:
    conversation = await Conversation.objects.acreate(
        application=application, owner=owner, title=title
    )
    await Message.objects.acreate(conversation=conversation, role="user", text=text)
    return conversation


async def ask(on: Scene, visitor: Visitor, text: str = "Which hotel was it?") -> list[ToolSpec]:
    """Return the tools that the model of the run was offered first."""
    tab = await visitor.tab(on.hub)
    await tab.ask(text)
    await tab.until_over()
    return list(on.model.asked[0].tools)


async def test_the_model_is_told_what_the_person_said_earlier():
    async with scene(manifest=SEARCHING) as on:
        user = await database_sync_to_async(User.objects.create)(username="grace")
        visitor = Visitor(on.application, on.model, user=user)
        on.model.put(*SEARCH, None, *saying("The Adlon."), None)
        other = await add_application(manifest=SEARCHING)
        mine = await said("We stay at the hotel Adlon", visitor.bucket, on.application)
        await said("A hotel elsewhere", visitor.bucket, other)
        await said("The hotel of others", "user-999999", on.application)

        await ask(on, visitor)

        await visitor.leave()
    [*_, result] = on.model.asked[1].messages
    day = mine.updated_at.date()
    assert result.text == (
        f"1. [Earlier](/chat/{on.application.slug}/{mine.pk}/), {day}\n"
        "   > We stay at the hotel Adlon"
    )


async def test_the_running_conversation_is_not_found():
    async with scene(manifest=SEARCHING) as on:
        user = await database_sync_to_async(User.objects.create)(username="grace")
        visitor = Visitor(on.application, on.model, user=user)
        on.model.put(*SEARCH, None, *saying("None."), None)

        await ask(on, visitor)

        await visitor.leave()
    assert on.model.asked[1].messages[-1].text == NONE


async def test_a_visitor_without_an_account_is_not_offered_the_tool():
    async with scene(manifest=SEARCHING) as on:
        on.model.put(*saying("I do not know."), None)

        assert [tool.name for tool in await ask(on, on.visitor)] == []


@pytest.mark.parametrize("kind", ["visitor", "key", "dial"])
async def test_only_people_with_an_account_have_earlier_conversations(kind):
    application: Any = await add_application(manifest=SEARCHING)

    assert earlier_conversations(Caller("b", kind), application, uuid4()) is None
