"""Failed, regenerated and resumed answers in a link and a copy."""

from __future__ import annotations

from typing import Any

import pytest

from apps.accounts.caller import caller_in
from apps.agent.events import TextDelta, TurnRestarted
from apps.agent.messages import attachment_from_dict
from apps.chat.models import Share
from apps.chat.shares.copies import begin_copy
from apps.chat.shares.snapshot import is_file
from apps.conversations.asking.questions import question_added
from apps.conversations.branches import path
from apps.conversations.models import Conversation, Message
from apps.conversations.senders import CONTINUATION
from apps.live.events import AnswerStored, RunFailed, StatusChanged, StreamEvent
from apps.live.journal import journal
from tests.chat.pages.test_views import run_in
from tests.chat.shares.talks import begin, share, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

LINK = {
    "type": "text/html",
    "title": "A page",
    "url": "https://example.org/",
    "reference_url": "https://example.org/",
}
PICTURE = {"type": "image/png", "title": "A picture", "data": "iVBORw0KGgo="}


def add_run(
    conversation: Conversation,
    said: list[StreamEvent],
    text: str,
    *,
    status: str = "done",
    sender: dict[str, Any] | None = None,
    reason: str = "stop",
) -> None:
    run = run_in(conversation, status)
    fields: dict[str, Any] = {"conversation": conversation, "run": run}
    asked = Message.objects.create(**fields, role="user", text="Go", sender=sender)
    answered = Message.objects.create(**fields, role="assistant", text=text)
    stored = AnswerStored(
        {
            "id": str(answered.uuid),
            "role": "assistant",
            "text": text,
            "attachments": [LINK],
            "finish_reason": reason,
        }
    )
    events = [question_added(asked), *said, stored, StatusChanged(status)]
    journal.add(conversation.pk, run.pk, events)


def events_of(share_id: int, turn: int = 0) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = Share.objects.get(pk=share_id).turns[turn]["events"]
    return found


@pytest.mark.parametrize("steps", ["true", ""])
def test_a_failure_is_told_without_its_reference(ada, travel, steps):
    trip = begin(ada, travel)
    add_run(trip, [TextDelta("Half"), RunFailed("It broke.", "ref-1")], "Half", status="failed")
    made = share(signed_in(ada), trip, steps=steps)

    events = events_of(made["id"])
    assert {"type": "run.error", "text": "It broke.", "reference": ""} in events
    assert events[-1] == {"type": "run.status", "status": "failed"}


@pytest.mark.parametrize(("steps", "texts"), [("true", ["One two"]), ("", ["One three"])])
def test_an_answer_that_began_anew_has_what_stands(ada, travel, steps, texts):
    trip = begin(ada, travel)
    anew = TurnRestarted("One ", (attachment_from_dict(PICTURE), attachment_from_dict(LINK)), ())
    said: list[StreamEvent] = [TextDelta("One two"), anew, TextDelta("three")]
    add_run(trip, said, "One three")
    made = share(signed_in(ada), trip, steps=steps)

    events = events_of(made["id"])
    deltas = [one["text"] for one in events if one["type"] == "message.delta"]
    restarted = [one for one in events if one["type"] == "answer.restarted"]
    assert deltas[:1] == texts
    assert [one["attachments"] for one in restarted] == ([[LINK]] if steps else [])
    copy = begin_copy(caller_in(ada.pk), travel, Share.objects.get(pk=made["id"]))
    assert [row.text for row in path(copy)] == ["Go", "One three"]


def test_an_answer_that_went_on_is_still_one(ada, travel):
    trip = begin(ada, travel)
    add_run(trip, [TextDelta("First half")], "First half", reason="length")
    add_run(trip, [TextDelta(", second.")], ", second.", sender=CONTINUATION)
    made = share(signed_in(ada), trip)

    assert events_of(made["id"], 1)[0]["message"]["sender"] == CONTINUATION
    copy = begin_copy(caller_in(ada.pk), travel, Share.objects.get(pk=made["id"]))
    rows = path(copy)
    assert [row.sender for row in rows] == [None, None, CONTINUATION, None]
    assert [row.finish_reason for row in rows] == ["", "length", "", "stop"]


FILES = [
    (LINK, False),
    ({"type": "text/html", "url": "https://example.org/"}, False),
    ({"type": "text/plain", "title": "[12] a.pdf", "data": "A sentence."}, False),
    ({"type": "text/plain", "title": "[12] a.pdf", "data": "x" * 601}, True),
    ({"type": "text/plain", "title": "a.txt", "data": "A sentence."}, True),
    ({"type": "image/png", "url": "data:image/png;base64,xx"}, True),
    ({"type": "image/png", "url": "files/user-1/a.png"}, True),
    ({"type": "image/png", "url": "/files/user-1/a.png"}, True),
    (PICTURE, True),
]


def test_links_and_citations_are_no_files():
    assert [(attachment, is_file(attachment)) for attachment, _ in FILES] == FILES
