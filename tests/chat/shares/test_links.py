"""The owner of a conversation creates, lists and revokes links, and links expire."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client

from apps.accounts.models import AuditEntry
from apps.chat.models import Share
from apps.chat.shares import links
from apps.conversations.models import Conversation
from apps.doors.sessions import session_bucket
from tests.accounts.teams import make_team, working_in
from tests.chat.shares.talks import OPEN, add_turn, address_of, begin, path_of, share, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_the_owner_makes_a_link_and_is_told_of_it_again(ada, trip):
    client = signed_in(ada)
    with time_machine.travel(NOON, tick=False):
        before = client.get(f"{address_of(trip)}shares/").json()
        made = share(client, trip, steps="true", expires="30")
        after = client.get(f"{address_of(trip)}shares/")

    token = path_of(made).split("/")[2]
    assert before == {"shares": [], "anyone": False, "answers": 1, "until": "When?"}
    assert len(token) == 32
    assert made == {
        "id": made["id"],
        "address": f"http://testserver/shared/{token}/",
        "title": "A trip",
        "steps": True,
        "files": False,
        "audience": "people",
        "created_at": "2026-03-01T12:00:00+00:00",
        "expires_at": "2026-03-31T12:00:00+00:00",
    }
    assert after.json()["shares"] == [made]
    assert after["Cache-Control"] == "no-store"


def test_a_temporary_conversation_is_shared_once_it_is_kept(ada, trip):
    client, address = signed_in(ada), f"{address_of(trip)}shares/"
    Conversation.objects.filter(pk=trip.pk).update(temporary_until=NOON)
    with time_machine.travel(NOON - timedelta(hours=1), tick=False):
        refused = client.post(address)
        Conversation.objects.filter(pk=trip.pk).update(temporary_until=None)
        made = client.post(address)

    assert (refused.status_code, refused.json()) == (
        400,
        {
            "error": {
                "message": "A temporary chat can’t be shared. Save it first.",
                "code": "bad_request",
            }
        },
    )
    assert made.status_code == 201


def test_nobody_else_makes_lists_or_revokes_links(ada, grace, trip):
    made = share(signed_in(ada), trip)
    other, visitor = signed_in(grace), Client()
    address = f"{address_of(trip)}shares/"

    answers = [
        other.get(address),
        other.post(address),
        other.post(f"/shares/{made['id']}/revoke/"),
        visitor.get(address),
        visitor.post(address),
    ]
    assert [one.status_code for one in answers] == [404] * 5
    assert visitor.post(f"/shares/{made['id']}/revoke/").status_code == 302  # to sign in
    assert "A trip" not in other.get("/settings/").text
    assert Share.objects.count() == 1


def test_a_visitor_has_to_sign_in_to_share(travel):
    client = Client()
    travel.is_public = True
    travel.save()
    client.get("/chat/travel/")
    mine = Conversation.objects.create(
        application=travel, owner=session_bucket(client.session.session_key or ""), title="Mine"
    )
    add_turn(mine)

    answer = client.post(f"{address_of(mine)}shares/")

    assert answer.status_code == 403
    assert answer.json()["error"]["message"] == "Sign in to share a conversation."


def test_a_revoked_link_is_gone(ada, grace, trip):
    client, reader = signed_in(ada), signed_in(grace)
    first, second = share(client, trip), share(client, trip)
    assert reader.get(path_of(first)).status_code == 200

    from_dialog = client.post(f"/shares/{first['id']}/revoke/")
    from_settings = client.post(f"/shares/{second['id']}/revoke/", {"back": ""}, follow=True)

    assert from_dialog.status_code == 204
    assert "The link was revoked" in from_settings.text
    assert [reader.get(path_of(one)).status_code for one in (first, second)] == [404, 404]
    assert client.post(f"/shares/{first['id']}/revoke/").status_code == 404
    assert Share.objects.count() == 0


def test_a_link_stops_when_its_time_is_over(ada, grace, trip):
    client, reader = signed_in(ada), signed_in(grace)
    with time_machine.travel(NOON, tick=False) as clock:
        day, lasting = share(client, trip, expires="1"), share(client, trip, expires="never")
        clock.shift(86_399)
        before = [reader.get(path_of(one)).status_code for one in (day, lasting)]
        clock.shift(1)
        after = [reader.get(path_of(one)).status_code for one in (day, lasting)]
        listed = client.get(f"{address_of(trip)}shares/").json()["shares"]
        erased = links.erase_expired()

    assert (before, after) == ([200, 200], [404, 200])
    assert [one["id"] for one in listed] == [lasting["id"]]
    assert (erased, Share.objects.get().pk) == (1, lasting["id"])


def test_links_go_with_their_conversation_at_once(ada, grace, trip):
    client, reader = signed_in(ada), signed_in(grace)
    made = share(client, trip)
    client.post(f"{address_of(trip)}delete/")
    hidden = reader.get(path_of(made)).status_code
    client.post(f"{address_of(trip)}restore/")
    restored = reader.get(path_of(made)).status_code
    trip.delete()

    assert (hidden, restored, Share.objects.count()) == (404, 200, 0)


def test_links_stop_with_the_account(ada, grace, trip):
    made, reader = share(signed_in(ada), trip), signed_in(grace)
    User.objects.filter(pk=ada.pk).update(is_active=False)
    closed = reader.get(path_of(made)).status_code
    ada.delete()

    assert (closed, Share.objects.count()) == (404, 0)


def test_links_of_a_team_stop_for_who_left_it(ada, grace, travel):
    team = make_team("Docs", ada)
    client = working_in(ada, team)
    mine = begin(ada, travel)
    mine.owner = f"user-{ada.pk}-team-{team.pk}"
    mine.team = team
    mine.save()
    add_turn(mine)
    made, reader = share(client, mine), signed_in(grace)
    before = reader.get(path_of(made)).status_code
    ada.groups.clear()

    assert (before, reader.get(path_of(made)).status_code) == (200, 404)


def test_wrong_wishes_are_named_and_keep_nothing(ada, trip):
    client = signed_in(ada)
    wrong: list[dict[str, str]] = [{"audience": "all"}, {"audience": ""}, {"expires": "2"}]
    wrong += [{"audience": "anyone"}]

    answers = [client.post(f"{address_of(trip)}shares/", one) for one in wrong]

    assert [(one.status_code, one.json()["error"]["message"]) for one in answers] == [
        (400, "audience: use people or anyone."),
        (400, "audience: use people or anyone."),
        (400, "expires: use one of 1, 7, 30, never."),
        (400, "audience: only signed-in users can read this conversation; use people."),
    ]
    assert Share.objects.count() == 0


def test_what_has_no_answer_yet_is_not_shared(ada, travel):
    client, empty = signed_in(ada), begin(ada, travel)
    add_turn(empty, status="running")

    answer = client.post(f"{address_of(empty)}shares/")

    assert client.get(f"{address_of(empty)}shares/").json()["answers"] == 0
    assert (
        answer.json()["error"]["message"]
        == "There is no answer to share yet. Try again after the first answer."
    )


def test_a_person_has_a_hundred_links(ada, trip, monkeypatch):
    monkeypatch.setattr(links, "MOST_LINKS", 2)
    client = signed_in(ada)
    first, _ = share(client, trip), share(client, trip)
    refused = client.post(f"{address_of(trip)}shares/")
    client.post(f"/shares/{first['id']}/revoke/")

    assert (
        refused.json()["error"]["message"]
        == "You have 2 links, which is the limit. Revoke one first."
    )
    assert share(client, trip)["title"] == "A trip"


def test_links_are_made_at_a_limited_rate(ada, trip):
    client = signed_in(ada)
    codes = [client.post(f"{address_of(trip)}shares/").status_code for _ in range(31)]

    assert codes == [201] * 30 + [429]


def test_what_is_too_long_is_refused_with_advice(ada, trip, monkeypatch):
    client = signed_in(ada)
    monkeypatch.setattr(links, "MOST_BYTES", 100)
    answers = [
        client.post(f"{address_of(trip)}shares/", fields)
        for fields in ({"steps": "true"}, {"files": "true"}, {})
    ]

    told = "This conversation is too long to share with a link."
    assert [one.json()["error"]["message"] for one in answers] == [
        f"{told} Share the conversation without steps.",
        f"{told} Share the conversation without files.",
        f"{told} Download the conversation instead.",
    ]
    assert [one.status_code for one in answers] == [413] * 3


def test_strangers_read_only_where_the_operator_allows_it(ada, grace, trip, settings, monkeypatch):
    settings.SHARES_FOR_ANYONE = True
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 0)
    client, stranger = signed_in(ada), Client()
    assert client.get(f"{address_of(trip)}shares/").json()["anyone"] is True
    people, anyone = share(client, trip), share(client, trip, audience="anyone")
    both = [path_of(people), path_of(anyone)]

    def read() -> list[int]:
        return [stranger.get(one).status_code for one in both]

    allowed = read()
    settings.SHARES_FOR_ANYONE = False
    installation = read()
    settings.SHARES_FOR_ANYONE = True
    application = trip.application
    assert application is not None
    application.manifest = {**OPEN, "features": {"sharing": {}}}
    application.save()
    switched_off = read()
    signed = [signed_in(grace).get(one).status_code for one in both]

    assert (allowed, installation, switched_off) == ([404, 200], [404, 404], [404, 404])
    assert signed == [200, 200]
    assert "sessionid" not in stranger.cookies  # reading alone starts no session


def test_links_and_readings_are_in_the_audit(ada, grace, trip):
    client = signed_in(ada)
    made = share(client, trip)
    client.get(path_of(made))
    signed_in(grace).get(path_of(made))
    client.post(f"/shares/{made['id']}/revoke/")

    found = AuditEntry.objects.filter(conversation=trip.pk).order_by("pk")
    subject = f"link {made['id']} for signed-in users"
    assert list(found.values_list("event", "actor", "application", "subject")) == [
        ("access.granted", f"user-{ada.pk}", "travel", subject),
        ("contents.read", f"user-{grace.pk}", "travel", subject),
        ("access.revoked", f"user-{ada.pk}", "travel", subject),
    ]


def test_the_settings_list_all_links(ada, trip, travel):
    client, other = signed_in(ada), begin(ada, travel, "<b>Other</b>")
    add_turn(other)
    made = [share(client, trip, expires="never"), share(client, other, steps="true")]

    shown = client.get("/settings/").text

    assert all(one["address"] in shown for one in made)
    assert "&lt;b&gt;Other&lt;/b&gt;" in shown
    assert "never expires" in shown
    assert "with steps" in shown
