"""The shared page shows the conversation as it was, without private parts."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import Client

from apps.conversations.models import Conversation
from apps.workspace.local.files import files
from tests.chat.shares.talks import (
    CITATION,
    add_file,
    add_turn,
    address_of,
    begin,
    path_of,
    share,
    signed_in,
)
from tests.conversations.files.test_files import joined

pytestmark = pytest.mark.django_db

SECRETS = (
    "window seat",
    "Remember",
    "gpt-secret",
    "EUR",
    "secret customer",
    "pack",
    "tool is away",
)


def turns_of(client: Client, path: str) -> list[dict[str, Any]]:
    page = client.get(path).text
    found = re.search(r'<script id="shared-turns" type="application/json">(.*?)</script>', page)
    assert found is not None
    turns: list[dict[str, Any]] = json.loads(found[1])
    return turns


def question(number: int, text: str, attachments: list[dict[str, str]], at: str) -> dict[str, Any]:
    message = {"id": f"question-{number}", "role": "user", "text": text, "created_at": at}
    return {"type": "message.added", "message": {**message, "attachments": attachments}}


def answer(number: int, attachments: list[dict[str, str]], **more: str) -> dict[str, Any]:
    message = {"id": f"stored-{number}", "role": "assistant", "finish_reason": "stop", **more}
    return {"type": "message.complete", "message": {**message, "attachments": attachments}}


DONE = {"type": "run.status", "status": "done"}


def asked_at(conversation: Conversation) -> str:
    first = conversation.messages.first()
    assert first is not None
    return str(first.created_at.isoformat())


def test_a_link_shows_questions_and_answers_alone(ada, grace, travel):
    trip = begin(ada, travel)
    path = add_file(trip, "notes.txt")
    add_turn(trip, f"What of {path}?", f"See [it]({path}).", file=path)
    made = share(signed_in(ada), trip)

    assert turns_of(signed_in(grace), path_of(made)) == [
        {
            "run": "answer-1",
            "at": 0,
            "events": [
                question(1, "What of notes.txt?", [], asked_at(trip)),
                {"type": "message.delta", "text": "See [it](notes.txt)."},
                answer(1, [CITATION]),
                DONE,
            ],
        }
    ]


def test_steps_and_files_are_shown_where_they_are_ticked(ada, grace, travel):
    trip = begin(ada, travel)
    path = add_file(trip, "my notes.txt")
    add_turn(trip, "What?", f"See [it]({path}).", file=path)
    made = share(signed_in(ada), trip, steps="true", files="true")

    address = f"{path_of(made)[1:]}files/1/my%20notes.txt"
    attachment = {"type": "text/plain", "title": "notes.txt", "url": address}
    text = f"See [it]({address})."
    events = turns_of(signed_in(grace), path_of(made))[0]["events"]
    assert events[0] == question(1, "What?", [attachment], asked_at(trip))
    assert events[1:5] == [
        {"type": "stage.opened", "stage": "call-1", "title": "Timetable", "parent": None},
        {"type": "stage.delta", "stage": "call-1", "text": f"Looked at {address}, number 0."},
        {"type": "stage.delta", "stage": "call-1", "attachment": attachment},
        {"type": "stage.closed", "stage": "call-1", "failed": False, "seconds": 0.2},
    ]
    assert "".join(one["text"] for one in events if one["type"] == "message.delta") == text
    assert events[-4:] == [
        {"type": "attachment.added", "attachment": CITATION},
        {"type": "attachment.added", "attachment": attachment},
        answer(1, [CITATION, attachment]),
        DONE,
    ]


@pytest.mark.parametrize("ticked", [{}, {"steps": "true", "files": "true"}])
def test_what_is_private_is_never_part_of_it(ada, grace, travel, ticked):
    trip = begin(ada, travel)
    run = add_turn(trip, file=add_file(trip, "notes.txt"))
    made = share(signed_in(ada), trip, **ticked)

    shown = signed_in(grace).get(path_of(made)).text

    ids = (str(trip.pk), str(run.pk), f"user-{ada.pk}")
    assert [one for one in (*SECRETS, *ids) if one in shown] == []


def test_later_messages_branches_and_titles_do_not_appear(ada, grace, travel):
    trip = begin(ada, travel)
    add_turn(trip, "First?")
    client, reader = signed_in(ada), signed_in(grace)
    made = share(client, trip)
    before = reader.get(path_of(made)).text
    add_turn(trip, "Second?")
    trip.messages.filter(text="First?").update(text="Changed?")
    client.post(f"{address_of(trip)}rename/", {"title": "Another name"})
    after = reader.get(path_of(made)).text

    token = re.compile(r'name="csrfmiddlewaretoken" value="\w+"|nonce="[^"]+"')
    assert token.sub("", after) == token.sub("", before)
    assert [name in after for name in ("First?", "A trip", "Second?", "Another")] == [
        True,
        True,
        False,
        False,
    ]


def test_only_the_shown_branch_is_shared(ada, grace, travel):
    trip = begin(ada, travel)
    add_turn(trip, "First?")
    add_turn(trip, "Elsewhere?")
    first, elsewhere = trip.messages.filter(role="user")
    elsewhere.parent = elsewhere
    elsewhere.save()
    trip.leaf = first.followers.first() or trip.messages.all()[1]
    trip.save()
    made = share(signed_in(ada), trip)

    events = turns_of(signed_in(grace), path_of(made))
    assert [turn["events"][0]["message"]["text"] for turn in events] == ["First?"]


def test_an_answer_that_is_being_written_is_not_shared(ada, grace, travel):
    trip = begin(ada, travel)
    add_turn(trip, "First?")
    add_turn(trip, "Going?", status="running")
    client = signed_in(ada)
    told = client.get(f"{address_of(trip)}shares/").json()
    made = share(client, trip)

    assert (told["answers"], told["until"]) == (1, "First?")
    assert len(turns_of(signed_in(grace), path_of(made))) == 1


def test_a_page_is_neither_kept_nor_found_nor_told_of(ada, grace, travel):
    trip = begin(ada, travel)
    add_turn(trip, file=add_file(trip, "notes.txt"))
    made = share(signed_in(ada), trip, files="true")
    reader = signed_in(grace)
    answers = [
        reader.get(path_of(made)),
        reader.get(f"{path_of(made)}files/1/notes.txt"),
        reader.get("/shared/unknown/"),
        Client().get(path_of(made)),
    ]

    assert [one.status_code for one in answers] == [200, 200, 404, 404]
    for one in answers:
        assert one["X-Robots-Tag"] == "noindex, nofollow"
        assert one["Referrer-Policy"] == "no-referrer"
        assert {"private", "no-store"} <= set(one["Cache-Control"].split(", "))


def test_unknown_revoked_and_foreign_links_are_told_the_same(ada, grace, trip):
    made = share(signed_in(ada), trip)
    reader, stranger = signed_in(grace), Client()
    foreign = stranger.get(path_of(made)).text
    unknown = stranger.get("/shared/unknown/").text
    signed_in(ada).post(f"/shares/{made['id']}/revoke/")
    revoked = reader.get(path_of(made)).text

    def without_path(text: str) -> str:
        return re.sub(r"shared/[\w-]+/|shared%2F[\w-]+%2F", "", text)

    assert without_path(foreign) == without_path(unknown)
    assert "The link was revoked, has expired or is incomplete" in revoked
    assert Client().post("/shared/unknown/").status_code in (403, 405)


def test_files_open_only_under_the_link_and_only_where_they_are_ticked(ada, grace, travel):
    trip = begin(ada, travel)
    path = add_file(trip, "page.html", b"<script>alert(1)</script>")
    add_turn(trip, file=path)
    client, reader = signed_in(ada), signed_in(grace)
    ticked, plain = share(client, trip, files="true"), share(client, trip)
    name = "page.html"
    shown = reader.get(f"{path_of(ticked)}files/1/{name}")

    assert async_to_sync(joined)(shown) == b"<script>alert(1)</script>"
    assert shown["Content-Type"] == "text/plain; charset=utf-8"
    assert shown["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert shown["X-Content-Type-Options"] == "nosniff"
    others = [
        f"{path_of(plain)}files/1/{name}",
        f"{path_of(ticked)}files/0/{name}",
        f"{path_of(ticked)}files/2/{name}",
        f"{path_of(ticked)}files/1/other.html",
        f"/{path}",
    ]
    assert [reader.get(one).status_code for one in others] == [404] * 5
    assert Client().get(f"{path_of(ticked)}files/1/{name}").status_code == 404


def test_a_file_that_changed_or_went_is_not_shown(ada, grace, travel):
    trip = begin(ada, travel)
    path = add_file(trip, "notes.txt")
    add_turn(trip, file=path)
    made = share(signed_in(ada), trip, files="true")
    address, reader = f"{path_of(made)}files/1/notes.txt", signed_in(grace)
    add_file(trip, "notes.txt", b"changed later")
    changed = reader.get(address).status_code
    files.delete(trip.owner, path)

    assert (changed, reader.get(address).status_code) == (404, 404)


def test_files_of_others_are_not_shared_by_naming_them(ada, grace, travel):
    hers, mine = begin(grace, travel), begin(ada, travel)
    foreign = add_file(hers, "private.txt")
    add_turn(mine, f"Show {foreign}", file=foreign)
    made = share(signed_in(ada), mine, files="true")

    # The reader's model would read a file of theirs that is among the attachments.
    [turn] = turns_of(signed_in(ada), path_of(made))
    said = [one["message"] for one in turn["events"] if "message" in one]
    assert [one["attachments"] for one in said] == [[], [CITATION]]
    assert signed_in(ada).get(f"{path_of(made)}files/1/private.txt").status_code == 404


def test_the_author_is_named_only_by_a_name_they_gave(ada, grace, travel):
    named, unnamed = begin(ada, travel), begin(grace, travel)
    add_turn(named)
    add_turn(unnamed)
    links = [share(signed_in(user), one) for user, one in ((ada, named), (grace, unnamed))]

    shown = [signed_in(ada).get(path_of(one)).text for one in links]

    assert 'Shared by <span dir="auto">Ada Lovelace</span>' in shown[0]
    assert "Shared by" not in shown[1]


def test_a_conversation_of_a_deleted_application_is_still_read(ada, grace, travel, trip):
    made = share(signed_in(ada), trip)
    travel.delete()
    reader = signed_in(grace)

    shown = reader.get(path_of(made)).text

    assert ("Travel" in shown, "Continue from here" in shown) == (True, False)
    assert reader.post(f"{path_of(made)}continue/").status_code == 403
