"""A user's notification settings, on the account page and for the chat pages."""

from __future__ import annotations

from datetime import time
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from apps.accounts.caller import caller_in
from apps.accounts.models import NoticeSettings
from apps.chat.socket.tab_updates import attention
from apps.conversations.models import Conversation
from apps.live.models import Run
from tests.accounts.teams import make_team
from tests.catalog.rows import make_application

pytestmark = pytest.mark.django_db

ADDRESS = "/account/notices/"
NIGHT = {"quiet_from": "22:00", "quiet_until": "07:00", "time_zone": "Europe/Riga"}


@pytest.fixture
def ada(settings: Any) -> User:
    settings.SENDS_MAIL = True
    return User.objects.create_user("ada", "ada@example.org")


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_the_wishes_are_saved_and_changed_and_the_page_of_the_chat_keeps_quiet(ada):
    client = signed_in(ada)

    client.post(ADDRESS, {"sends_mail": "on", **NIGHT})
    first = NoticeSettings.objects.get()
    told = attention(caller_in(ada.pk))["quiet"]
    client.post(ADDRESS, {"time_zone": "UTC"})
    second = NoticeSettings.objects.get()

    assert (first.user, first.sends_mail, first.quiet_from) == (ada, True, time(22))
    assert told == {"from": "22:00", "until": "07:00", "zone": "Europe/Riga"}
    assert (second.pk, second.sends_mail, second.quiet_hours) == (first.pk, False, None)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"quiet_until": ""}, "Enter both a start and an end time, or leave both empty."),
        ({"quiet_from": ""}, "Enter both a start and an end time, or leave both empty."),
        ({"time_zone": "Mars/Olympus"}, "Enter a valid time zone, such as"),
        ({"quiet_from": "25:00"}, "Enter a valid time."),
    ],
)
def test_what_is_wrong_is_said_at_its_field(ada, changed, problem):
    answer = signed_in(ada).post(ADDRESS, {**NIGHT, **changed})

    assert (answer.status_code, problem in answer.text) == (400, True)
    assert not NoticeSettings.objects.exists()


def test_a_script_sends_only_what_changed(ada):
    client, json = signed_in(ada), {"Accept": "application/json"}
    client.post(ADDRESS, {"sends_mail": "on", **NIGHT})
    saved = client.post(ADDRESS, {"changed": "quiet_until", "quiet_until": "06:00"}, headers=json)
    refused = client.post(ADDRESS, {"changed": "quiet_from", "quiet_from": ""}, headers=json)

    problem = "Enter both a start and an end time, or leave both empty."
    assert saved.status_code == 204
    assert (refused.status_code, refused.json()) == (400, {"quiet_from": [problem]})
    stored = NoticeSettings.objects.get()
    assert (stored.sends_mail, stored.quiet_from, stored.quiet_until) == (True, time(22), time(6))


def test_without_mail_or_an_address_nobody_chooses_it(ada, settings):
    bob = User.objects.create_user("bob")
    signed_in(bob).post(ADDRESS, {"sends_mail": "on", "time_zone": "UTC"})
    settings.SENDS_MAIL = False
    page = signed_in(ada).get("/account/").text

    assert not NoticeSettings.objects.get(user=bob).sends_mail
    assert 'name="sends_mail"' not in page


def test_what_calls_is_that_of_the_place_where_the_person_works(ada):
    team = make_team("Crew", ada)
    application = make_application()
    for bucket in (f"user-{ada.pk}", f"user-{ada.pk}-team-{team.pk}", "user-0"):
        Conversation.objects.create(application=application, owner=bucket, is_unread=True)
    mine = Conversation.objects.get(owner=f"user-{ada.pk}")
    waits = Conversation.objects.create(application=application, owner=mine.owner)
    Run.objects.create(stream=waits.pk, request=uuid4(), bucket=mine.owner, status="waiting")
    Conversation.objects.create(application=application, owner=mine.owner)  # seen

    told = attention(caller_in(ada.pk))["conversations"]
    in_team = attention(caller_in(ada.pk, team.pk))["conversations"]

    assert {(one["id"], one["state"]) for one in told} == {
        (str(mine.pk), "unread"),
        (str(waits.pk), "waiting"),
    }
    assert {one["address"] for one in told} == {
        f"/chat/travel/{mine.pk}/",
        f"/chat/travel/{waits.pk}/",
    }
    assert len(in_team) == 1
