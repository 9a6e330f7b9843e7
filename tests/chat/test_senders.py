"""What no person has sent: how people and models are told of it, and rows from before it had one form."""

from __future__ import annotations

from importlib import import_module
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps

from apps.chat.models import Conversation, Message, QueuedMessage
from apps.chat.senders import Sender, sender_words
from apps.live.models import Run
from apps.manifest.narrative import introduced, without_narrative

AT = "2026-05-04T12:00:00+02:00"
BUDGET = {"tokens": 500, "money": None, "currency": "USD"}
TRIGGER = {
    "kind": "schedule",
    "id": str(uuid4()),
    "name": "Report",
    "at": AT,
    "cap": BUDGET,
    "seconds": 60,
}
MARKED = {"slug": "", "title": "Schedule “Report”", "narrative": "4 May 2026", "trigger": TRIGGER}


@pytest.mark.parametrize(
    ("sender", "words", "note"),
    [
        (Sender("webhook", "Orders"), "From the webhook “Orders”", "[This message was sent by the"),
        (
            Sender("schedule", "Report", False, at=AT),
            "From the schedule “Report”, 4 May 2026, 12:00",
            "[The schedule “Report” asks this at its time, 2026-05-04T12:00:00+02:00. Nobody ",
        ),
        (
            Sender("alarm", "Alarm", False, at=AT),
            "Alarm, 4 May 2026, 12:00",
            "[The alarm that you set rings at its time, 2026-05-04T12:00:00+02:00. Nobody ",
        ),
    ],
)
def test_a_sender_is_named_to_people_and_models_and_can_be_left_out_again(sender, words, note):
    told = introduced("What is new?", sender.shown)

    assert sender_words(sender.shown) == words
    assert told.startswith(note)
    assert ("data from outside" in told) is sender.is_untrusted
    assert without_narrative(told) == "What is new?"
    assert Sender.read(sender.kept) == sender


@pytest.mark.django_db
def test_marks_of_schedules_from_before_become_senders():
    conversation = Conversation.objects.create(owner="user-1")
    run = Run.objects.create(stream=conversation.pk, request=uuid4(), application="x", bucket="b")
    fields: dict[str, Any] = {"conversation": conversation, "role": "user"}
    asked = Message.objects.create(**fields, run=run, place=MARKED)
    place = {"slug": "", "title": "Shop", "narrative": "a form"}
    plain = Message.objects.create(**fields, place=place)
    queued = QueuedMessage.objects.create(
        conversation=conversation, request=uuid4(), position=0, place=MARKED
    )

    import_module("apps.chat.migrations.0013_schedules_as_senders").move(apps, None)

    for row in (asked, plain, queued, run):
        row.refresh_from_db()
    sender = Sender("schedule", "Report", False, 60, AT, BUDGET)
    assert (asked.sender, asked.place) == (sender.shown, None)
    assert (plain.sender, plain.place) == (None, place)
    assert (queued.sender, queued.place) == (sender.kept, None)
    assert run.unattended == sender.unattended
