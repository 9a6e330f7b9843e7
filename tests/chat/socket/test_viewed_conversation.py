from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest

from apps.accounts.caller import Caller
from apps.agent.events import RunFinished, TextDelta
from apps.chat.socket import viewed_conversation
from apps.chat.socket.frames import OpenFrame
from apps.chat.socket.viewed_conversation import FrameWriter
from apps.conversations.access import find_conversation
from apps.conversations.asking.questions import question_added
from apps.conversations.models import Conversation, Message
from apps.live.events import NumberedEvent, StatusChanged
from apps.live.hub import HUB
from apps.live.journal import journal
from tests.chat.long_conversations import add_turns
from tests.chat.pages.test_views import add_application, add_conversation, run_in, visiting


def test_a_socket_is_told_ids_once():
    conversation, run, next_run = uuid4(), uuid4(), uuid4()
    batch: list[NumberedEvent] = [
        (1, run, StatusChanged("running")),
        (3, run, TextDelta("ab")),
        (4, run, RunFinished()),
        (5, next_run, TextDelta("c\0")),
    ]
    frames = FrameWriter()

    written = [frames.write(conversation, said) for said in batch]

    assert [json.loads(text) if text else None for text in written] == [
        {"type": "run.status", "status": "running", "run": str(run), "seq": 1},
        {"type": "message.delta", "text": "ab", "seq": 3},
        None,
        {"type": "message.delta", "text": "c\ufffd", "run": str(next_run), "seq": 5},
    ]


pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def test_a_question_that_is_asked_while_the_page_opens_is_shown(monkeypatch: pytest.MonkeyPatch):
    conversation = add_conversation(add_application(), visiting())
    add_turns(conversation, 1)
    Conversation.objects.update(leaf=Message.objects.latest("pk"))
    known = journal.last_number(conversation.pk)

    def find_in_time(*args: Any) -> Conversation:
        found = find_conversation(*args)
        ask(conversation)
        return found

    monkeypatch.setattr(viewed_conversation, "find_conversation", find_in_time)
    sent = OpenFrame(type="open", conversation=conversation.pk, after=known)
    caller = Caller(conversation.owner)
    opened = viewed_conversation.open_conversation(
        HUB, caller, conversation.pk, sent, conversation.application_slug
    )

    new = journal.read(conversation.pk, known)
    assert len(new) == 1
    assert opened.shown.select(new) == new


def ask(conversation: Conversation) -> None:
    """Send the request of another page."""
    run = run_in(conversation)
    question = Message.objects.create(conversation=conversation, run=run, role="user", text="Next?")
    Conversation.objects.filter(pk=conversation.pk).update(leaf=question)
    journal.add(conversation.pk, run.pk, (question_added(question),))
