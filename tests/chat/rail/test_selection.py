"""Actions on several conversations of the list at once."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.accounts.audit_entry import AuditEntry
from apps.conversations.keeping.selection import MOST_SELECTED
from apps.conversations.models import Conversation, QueuedMessage
from apps.live.models import Run
from tests.chat.pages.test_views import add_application, add_conversation, run_in, visiting
from tests.chat.rail.test_content import get, titles

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

ABSENT = "5f3f0a52-6f0e-4d39-9a0b-6f1a5d0a7c11"


def change(client: Client, *conversations: Conversation, **fields: str) -> Any:
    keys = ",".join(str(one.pk) for one in conversations)
    return client.post("/conversations/selected/", {"conversations": keys, **fields})


def add_three(client: Client) -> list[Conversation]:
    application = add_application()
    return [add_conversation(application, client, title) for title in ("one", "two", "three")]


def test_selected_conversations_are_archived_and_restored_together():
    client = visiting()
    one, _, three = add_three(client)

    told = change(client, one, three, archived="true").json()
    archived = titles(get(client, part="archived")["conversations"])
    change(client, one, three, archived="false")

    assert set(told["changed"]) == {str(one.pk), str(three.pk)}
    assert {(row["title"], row["archived"]) for row in told["conversations"]} == {
        ("one", True),
        ("three", True),
    }
    assert archived == ["three", "one"]
    assert titles(get(client)["conversations"]) == ["three", "two", "one"]


def test_selected_conversations_are_moved_into_a_folder_and_out_of_it():
    client = visiting()
    one, two, _ = add_three(client)
    folder = client.post("/conversations/folders/", {"name": "Work"}).json()["folder"]

    told = change(client, one, two, folder=str(folder)).json()
    inside = titles(get(client, folder=folder)["conversations"])
    change(client, one, two, folder="")

    assert {row["folder"] for row in told["conversations"]} == {folder}
    assert inside == ["two", "one"]
    assert titles(get(client)["conversations"]) == ["three", "two", "one"]


def test_selected_conversations_are_deleted_stop_answering_and_can_be_restored():
    client = visiting()
    one, two, three = add_three(client)
    run = run_in(one, Run.Status.WAITING)
    QueuedMessage.objects.create(conversation=two, request=uuid4(), text="Later", position=1)

    told = change(client, one, two, deleted="true").json()
    left = titles(get(client)["conversations"])
    audited = AuditEntry.objects.filter(event="conversation.deleted")
    deleted = set(audited.values_list("conversation", flat=True))
    back = change(client, one, two, three, deleted="false").json()

    assert (set(told["changed"]), told["conversations"]) == ({str(one.pk), str(two.pk)}, [])
    assert left == ["three"]
    assert deleted == {one.pk, two.pk}
    assert set(back["changed"]) == {str(one.pk), str(two.pk)}
    assert set(titles(get(client)["conversations"])) == {"one", "two", "three"}
    run.refresh_from_db()
    assert run.status == Run.Status.STOPPED
    assert QueuedMessage.objects.get().is_held


def test_conversations_of_others_are_skipped_and_the_attempt_is_recorded():
    owner, stranger = visiting(), visiting()
    theirs, mine = add_three(owner)[0], add_three(stranger)[0]

    told = change(stranger, theirs, mine, Conversation(pk=uuid4()), deleted="true").json()

    assert told["changed"] == [str(mine.pk)]
    assert len(get(owner)["conversations"]) == 3
    denied = AuditEntry.objects.filter(event="access.denied")
    assert list(denied.values_list("conversation", flat=True)) == [theirs.pk]


def test_a_folder_of_another_user_is_refused():
    owner, stranger = visiting(), visiting()
    folder = owner.post("/conversations/folders/", {"name": "Mine"}).json()["folder"]
    mine = add_three(stranger)[0]

    answer = change(stranger, mine, folder=str(folder))

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "folder_not_found"


@pytest.mark.parametrize(
    ("conversations", "fields", "code"),
    [
        ("", {"archived": "true"}, "bad_request"),
        ("nonsense", {"archived": "true"}, "bad_request"),
        (ABSENT, {}, "bad_request"),
        (",".join([ABSENT] * (MOST_SELECTED + 1)), {"deleted": "true"}, "too_many"),
    ],
    ids=["none", "nonsense", "no action", "too many"],
)
def test_a_request_that_cannot_be_read_changes_nothing(
    conversations: str, fields: dict[str, str], code: str
):
    client = visiting()
    add_three(client)

    answer = client.post("/conversations/selected/", {"conversations": conversations, **fields})

    assert answer.json()["error"]["code"] == code
    assert len(get(client)["conversations"]) == 3


@pytest.mark.usefixtures("nothing_expires")
def test_archiving_more_conversations_takes_no_more_queries():
    client = visiting()
    application = add_application()
    rows = [add_conversation(application, client, str(number)) for number in range(20)]
    counts = []
    change(client, rows[0], archived="true")  # The first request stores the day of the visit.

    for selected in (rows[:2], rows):
        with CaptureQueriesContext(connection) as queries:
            change(client, *selected, archived="true")
        counts.append(len(queries))

    assert counts[0] == counts[1]
