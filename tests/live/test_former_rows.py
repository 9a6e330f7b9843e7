"""A database of before steps were kept (`before_steps.json`), after its migration."""

from __future__ import annotations

from pathlib import Path

import pytest
from channels.db import database_sync_to_async
from django.core.management import call_command

from apps.catalog.models import Application
from apps.chat.models import Conversation, Message
from apps.live.hub import Hub
from apps.live.models import JournalEntry, Run
from tests.chat.scripts import PacedModel, Visitor, text_of

ROWS = Path(__file__).parent / "before_steps.json"


@pytest.mark.django_db
async def test_an_answer_of_before_is_replayed_and_one_that_was_going_is_stored():
    def load() -> None:
        call_command("loaddata", str(ROWS), verbosity=0)
        # What the migration gives to rows of before.
        Run.objects.update(format=0)
        JournalEntry.objects.update(format=0)

    await database_sync_to_async(load)()
    conversation = await Conversation.objects.aget()
    going = await Run.objects.aget(status="running")
    visitor = Visitor(await Application.objects.aget(), PacedModel())
    tab = await visitor.tab(Hub())

    await tab.open(str(conversation.pk))
    first, second = await tab.until_over(), await tab.until_over()
    await visitor.leave()

    answers = [message.text async for message in Message.objects.filter(role="assistant")]
    assert [frame["type"] for frame in first] == [
        "message.added",
        "run.status",
        "stage.opened",
        "stage.delta",
        "stage.opened",
        "stage.delta",
        "stage.closed",
        "stage.closed",
        "message.delta",
        "message.complete",
        "run.status",
    ]
    assert text_of(first) == "12 degrees"
    assert [frame["type"] for frame in second[-4:]] == [
        "stage.closed",
        "run.error",
        "message.complete",
        "run.status",
    ]
    assert answers == ["12 degrees", "It is "]
    await going.arefresh_from_db()
    assert (going.status, text_of(second)) == ("failed", "It is ")
