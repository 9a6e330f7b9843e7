"""A conversation is copied up to one of its answers."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.chat.window import last_turns
from apps.conversations.branches import path, shown_runs
from apps.conversations.models import Conversation, Folder, Message
from apps.conversations.outcome.context_use import context_usage
from apps.live.models import JournalEntry, RunSummary
from tests.catalog.rows import make_application
from tests.chat.shares.talks import MEMORY, OPEN, add_file, add_turn, begin, person, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


@pytest.fixture
def ada() -> User:
    return person("ada", "Ada Lovelace")


@pytest.fixture
def trip(ada: User) -> Conversation:
    """Return a conversation with three turns; the file of the first is in its folder."""
    made = begin(ada, make_application(manifest=OPEN))
    add_turn(made, "When?", "At **eight**.", file=add_file(made, "notes.txt"))
    add_turn(made, "Where?", "In Riga.")
    add_turn(made, "Why?", "For the sea.")
    return made


def ask(client: Client, original: Conversation, message: Any) -> Any:
    address = f"/chat/{original.application_slug}/{original.pk}/fork/"
    return client.post(address, {"message": str(message)})


def fork(client: Client, original: Conversation, text: str) -> Conversation:
    answer = ask(client, original, original.messages.get(text=text).uuid)
    assert answer.status_code == 201, answer.content
    return Conversation.objects.get(pk=answer.json()["conversation"]["id"])


def said(conversation: Conversation) -> list[tuple[str, str]]:
    return [(row.role, row.text) for row in path(conversation)]


def test_the_copy_ends_with_the_answer_and_the_original_is_unchanged(ada, trip):
    before = said(trip)

    copy = fork(signed_in(ada), trip, "In Riga.")

    assert (copy.owner, copy.application, copy.title) == (
        trip.owner,
        trip.application,
        "A trip (copy)",
    )
    assert said(copy) == before[:4]
    assert said(trip) == before
    assert [row.created_at for row in path(copy)] == [row.created_at for row in path(trip)[:4]]
    assert path(copy)[1].state == MEMORY
    assert not {row.uuid for row in path(copy)} & {row.uuid for row in path(trip)}


def test_the_copy_shows_the_steps_and_refers_to_the_files(ada, trip):
    copy = fork(signed_in(ada), trip, "At **eight**.")

    last = JournalEntry.objects.filter(stream=copy.pk).order_by("last").last()
    assert last is not None
    [turn] = last_turns(shown_runs(copy), last.last, None).turns
    kinds = [event["type"] for event in turn["events"]]
    assert kinds[0] == "message.added"
    assert kinds[-2:] == ["message.complete", "run.status"]
    assert {"stage.opened", "stage.delta", "stage.closed"} <= set(kinds)
    url = f"files/{trip.owner}/conversations/{trip.pk}/notes.txt"
    assert [one["url"] for one in path(copy)[0].attachments] == [url]
    assert [one["url"] for one in path(copy)[1].attachments if "url" in one] == [url]


@pytest.mark.usefixtures("nothing_expires")
def test_long_conversations_are_copied_with_the_same_number_of_queries(ada, trip):
    def queries() -> int:
        last = path(trip)[-1]
        with CaptureQueriesContext(connection) as found:
            assert ask(client, trip, last.uuid).status_code == 201
        return len(found)

    client = signed_in(ada)
    ask(client, trip, path(trip)[-1].uuid)
    short = queries()
    for number in range(5):
        add_turn(trip, f"And {number}?", "Yes.")

    assert queries() == short


def test_no_model_was_called_for_the_copy(ada, trip):
    copy = fork(signed_in(ada), trip, "In Riga.")

    assert RunSummary.objects.count() == 0
    assert context_usage(copy)["sum"] == {"tokens": 0, "costs": {}, "is_partial": False}


def test_the_copy_of_a_branch_has_only_its_messages(ada, trip):
    first = trip.messages.get(text="When?")
    other = Message.objects.create(
        conversation=trip, role="assistant", text="At nine.", parent=first, run=first.run
    )
    client = signed_in(ada)

    copy = fork(client, trip, other.text)

    assert said(copy) == [("user", "When?"), ("assistant", "At nine.")]


def test_settings_of_the_conversation_and_its_summary_are_copied(ada, trip):
    folder = Folder.objects.create(owner=trip.owner, name="Trips", position=1)
    until = timezone.now()
    Conversation.objects.filter(pk=trip.pk).update(
        folder=folder, has_memory=False, reasoning_effort="high", archived_at=until
    )
    last = trip.messages.get(text="At **eight**.")
    trip.messages.create(role="summary", text="About eight.", parent=last)
    trip.messages.create(role="summary", text="Later.", parent=trip.messages.get(text="Why?"))

    copy = fork(signed_in(ada), trip, "In Riga.")

    assert (copy.folder, copy.has_memory, copy.reasoning_effort) == (folder, False, "high")
    assert copy.archived_at is None
    [summary] = copy.messages.filter(role="summary")
    assert (summary.text, summary.parent) == ("About eight.", path(copy)[1])


def test_a_copy_of_a_copy_keeps_its_title(ada, trip):
    client = signed_in(ada)

    copy = fork(client, fork(client, trip, "In Riga."), "In Riga.")

    assert copy.title == "A trip (copy)"


def test_only_the_owner_can_copy_and_only_from_an_answer(ada, trip):
    answer = trip.messages.get(text="In Riga.").uuid
    question = trip.messages.get(text="Where?").uuid
    owner, stranger = signed_in(ada), signed_in(person("grace"))

    answers = [
        ask(stranger, trip, answer),
        ask(owner, trip, question),
        ask(owner, trip, uuid4()),
        ask(owner, trip, "nonsense"),
    ]

    codes = [one.json()["error"]["code"] for one in answers]
    assert codes == ["conversation_not_found", "no_message", "no_message", "bad_request"]
    assert Conversation.objects.count() == 1


def test_a_conversation_of_a_deleted_application_is_not_copied(ada, trip):
    answer, slug = trip.messages.get(text="In Riga.").uuid, trip.application_slug
    trip.application.delete()

    refused = signed_in(ada).post(f"/chat/{slug}/{trip.pk}/fork/", {"message": str(answer)})

    assert refused.json()["error"]["code"] == "application_deleted"
    assert Conversation.objects.count() == 1
