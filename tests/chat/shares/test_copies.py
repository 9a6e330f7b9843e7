"""A reader continues a shared conversation in a copy of their own."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import Client

from apps.chat.window import last_turns
from apps.conversations.branches import path
from apps.conversations.models import Conversation
from apps.live.models import JournalEntry, Run, RunSummary
from apps.workspace.local.models import StoredFile
from tests.chat.shares.talks import CITATION, add_file, add_turn, begin, path_of, share, signed_in
from tests.conversations.files.test_files import joined

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def go_on(client: Client, link: dict[str, Any]) -> Conversation:
    answer = client.post(f"{path_of(link)}continue/")
    assert answer.status_code == 201, answer.content
    address = answer.json()["address"]
    return Conversation.objects.get(pk=address.strip("/").split("/")[-1])


def test_a_reader_gets_a_conversation_of_their_own(ada, grace, travel):
    trip = begin(ada, travel)
    first = add_file(trip, "notes.txt", b"by the sea")
    add_turn(trip, f"What of {first}?", f"See [it]({first}).", file=first)
    add_turn(trip, "And then?", "Home.")
    made = share(signed_in(ada), trip, files="true", steps="true")
    reader = signed_in(grace)
    copy = go_on(reader, made)

    own = f"files/user-{grace.pk}/conversations/{copy.pk}/notes.txt"
    attachment = {"type": "text/plain", "title": "notes.txt", "url": own}
    rows = path(copy)
    assert (copy.owner, copy.title, copy.application) == (f"user-{grace.pk}", "A trip", travel)
    assert [(row.role, row.text, row.attachments) for row in rows] == [
        ("user", f"What of {own}?", [attachment]),
        ("assistant", f"See [it]({own}).", [CITATION, attachment]),
        ("user", "And then?", []),
        ("assistant", "Home.", [CITATION]),
    ]
    assert rows[0].created_at == trip.messages.all()[0].created_at
    assert rows[1].state == {"untrusted": ["the shared conversation “A trip”"]}
    assert async_to_sync(joined)(reader.get(f"/{own}")) == b"by the sea"
    assert RunSummary.objects.count() == 0  # no model was called


def test_the_page_shows_the_copy(ada, grace, trip):
    copy = go_on(signed_in(grace), share(signed_in(ada), trip, steps="true"))
    runs = [row.run_id.hex for row in path(copy) if row.role == "assistant" and row.run_id]
    last = JournalEntry.objects.filter(stream=copy.pk).order_by("last").last()

    assert last is not None
    [turn] = last_turns(runs, last.last, None).turns
    assert [event["type"] for event in turn["events"]] == [
        "message.added",
        "message.complete",
        "run.status",
    ]
    assert turn["events"][1]["message"]["text"] == "At **eight**."


def test_a_copy_stays_when_the_link_and_the_original_go(ada, grace, travel):
    trip = begin(ada, travel)
    add_turn(trip, file=add_file(trip, "notes.txt"))
    copy = go_on(signed_in(grace), share(signed_in(ada), trip, files="true"))
    trip.delete()
    ada.delete()

    assert len(path(copy)) == 2
    assert StoredFile.objects.filter(bucket=f"user-{grace.pk}").count() == 1


def test_files_that_are_not_ticked_are_not_copied(ada, grace, travel):
    trip = begin(ada, travel)
    add_turn(trip, file=add_file(trip, "notes.txt"))
    copy = go_on(signed_in(grace), share(signed_in(ada), trip))

    assert [row.attachments for row in path(copy)] == [[], [CITATION]]
    assert StoredFile.objects.filter(bucket=f"user-{grace.pk}").count() == 0


def test_only_who_may_use_the_application_goes_on(ada, grace, travel, trip):
    made = share(signed_in(ada), trip)
    travel.is_shared = False
    travel.owner = ada
    travel.save()
    reader = signed_in(grace)
    answer = reader.post(f"{path_of(made)}continue/")

    assert "Continue from here" not in reader.get(path_of(made)).text
    assert (answer.status_code, answer.json()["error"]["message"]) == (
        403,
        "You can’t use this app.",
    )
    assert Client().post(f"{path_of(made)}continue/").status_code == 404
    assert Conversation.objects.count() == 1


def test_a_stranger_goes_on_with_a_public_application(ada, travel, settings, trip):
    settings.SHARES_FOR_ANYONE = True
    travel.is_public = True
    travel.save()
    made = share(signed_in(ada), trip, audience="anyone")
    stranger = Client()

    shown = stranger.get(path_of(made)).text
    copy = go_on(stranger, made)

    assert "Continue from here" in shown
    assert copy.owner.startswith("session-")
    assert stranger.get(f"/chat/travel/{copy.pk}/").status_code == 200


def test_a_file_without_room_stops_the_copy_and_leaves_nothing(ada, grace, travel, settings):
    trip = begin(ada, travel)
    paths = [add_file(trip, f"{name}.txt", b"x" * 600) for name in "ab"]
    for one in paths:
        add_turn(trip, file=one)
    made = share(signed_in(ada), trip, files="true")
    settings.FILES_MAX_BYTES_PER_USER = 1_000
    answer = signed_in(grace).post(f"{path_of(made)}continue/")

    assert answer.status_code == 413
    assert Conversation.objects.filter(owner=f"user-{grace.pk}").count() == 0
    assert Run.objects.filter(bucket=f"user-{grace.pk}").count() == 0
    assert StoredFile.objects.filter(bucket=f"user-{grace.pk}").count() == 0


def test_copies_are_made_at_a_limited_rate(ada, grace, settings, trip):
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "continue": "1/5m/ip"}
    made = share(signed_in(ada), trip)
    reader = signed_in(grace)
    go_on(reader, made)

    assert reader.post(f"{path_of(made)}continue/").status_code == 429
