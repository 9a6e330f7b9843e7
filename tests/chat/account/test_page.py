"""The page on which users manage their account."""

from __future__ import annotations

import base64
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import Group, Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts.keys import own_keys
from apps.accounts.models import ApiKey, Picture, Team
from apps.accounts.sign_in.sessions import browser_of
from apps.accounts.teams import TEAM
from tests.catalog.rows import make_application

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

PAGE = "/account/"
PASSWORD = "a-password-for-tests"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", password=PASSWORD)


def signed_in(user: User, **headers: str) -> Client:
    client = Client(headers=headers)
    client.force_login(user)
    return client


def recently(client: Client) -> Client:
    """Enter the password again, as some changes require."""
    answer = client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert answer.status_code == 302, answer.text
    return client


def test_the_name_takes_the_place_of_the_username(ada):
    client = signed_in(ada)
    answer = client.post("/account/name/", {"name": "Ada Lovelace"}, follow=True)
    ada.refresh_from_db()

    assert answer.redirect_chain == [(PAGE, 302)]
    assert "Saved." in answer.text
    assert 'data-own-name="ada">Ada Lovelace</span></span></a>' in answer.text
    assert ada.get_full_name() == "Ada Lovelace"


def test_a_script_reads_why_a_name_is_refused(ada):
    json = {"Accept": "application/json"}
    refused = signed_in(ada).post("/account/name/", {"name": "x" * 151}, headers=json)

    problem = "Ensure this value has at most 150 characters (it has 151)."
    assert (refused.status_code, refused.json()) == (400, {"name": [problem]})


def upload(client: Client, content: bytes, name: str = "me.png") -> Any:
    sent = SimpleUploadedFile(name, content, content_type="image/png")
    return client.post("/account/picture/", {"picture": sent}, follow=True)


def test_a_picture_is_shown_replaced_and_deleted(ada):
    client = signed_in(ada)
    saved = upload(client, PNG)
    shown = client.get(f"/people/{ada.pk}/picture/")
    upload(client, b"\xff\xd8\xff\xe0" + bytes(20))
    replaced = client.get(f"/people/{ada.pk}/picture/")
    client.post("/account/picture/", {"delete": "on"})

    assert f'src="/people/{ada.pk}/picture/' in saved.text
    assert (shown.content, shown["Content-Type"]) == (PNG, "image/png")
    assert shown["X-Content-Type-Options"] == "nosniff"
    assert shown["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert replaced["Content-Type"] == "image/jpeg"
    assert client.get(f"/people/{ada.pk}/picture/").status_code == 404


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "This isn’t a PNG, JPEG or WebP image."),
        (b"<html><script>alert(1)</script>", "This isn’t a PNG, JPEG or WebP image."),
        (b"GIF89a" + bytes(20), "This isn’t a PNG, JPEG or WebP image."),
        (PNG + bytes(1024 * 1024), "The picture is too large; the limit is 1 MB."),
    ],
)
def test_what_is_no_small_picture_is_refused(ada, content, problem):
    answer = upload(signed_in(ada), content)

    assert answer.status_code == 400
    assert problem in answer.text
    assert not Picture.objects.exists()


def test_a_picture_is_seen_by_people_of_the_same_team_and_by_who_manages_accounts(ada):
    team, other = Group.objects.create(name="team"), Group.objects.create(name="role only")
    Team.objects.create(group=team)
    ada.groups.set([team, other])
    Picture.objects.create(user=ada, content_type="image/png", content=PNG)
    people = {
        name: User.objects.create_user(name) for name in ("mate", "role", "clerk", "stranger")
    }
    people["mate"].groups.add(team)
    people["role"].groups.add(other)
    people["clerk"].user_permissions.add(Permission.objects.get(codename="view_user"))
    address = f"/people/{ada.pk}/picture/"
    found = {name: signed_in(who).get(address).status_code for name, who in people.items()}

    assert found == {"mate": 200, "role": 404, "clerk": 200, "stranger": 404}
    assert Client().get(address).status_code == 302


def test_sessions_are_listed_and_ended_one_by_one_or_all_at_once(ada):
    here, phone, work = (signed_in(ada, user_agent=agent) for agent in (FIREFOX, "Phone/1", "W"))
    for client in (phone, work, here):
        client.get(PAGE)
    listed = here.get(PAGE).text
    chosen = UserSession.objects.get(user_agent="Phone/1")
    here.post("/account/sessions/end/", {"session": chosen.pk})
    after_one = [client.get(PAGE).status_code for client in (here, phone, work)]
    here.post("/account/sessions/end/")
    after_all = [client.get(PAGE).status_code for client in (here, phone, work)]

    assert "Firefox on Linux" in listed
    assert "IP address 127.0.0.1" in listed
    assert "Phone/1" in listed
    assert after_one == [200, 302, 200]
    assert after_all == [200, 302, 302]


def test_a_session_more_costs_no_query(ada, django_assert_max_num_queries):
    here = signed_in(ada)
    here.get(PAGE)
    with CaptureQueriesContext(connection) as of_one:
        here.get(PAGE)
    queries = len(of_one)
    for _ in range(5):
        signed_in(ada).get(PAGE)

    with django_assert_max_num_queries(queries + 4):  # some values are looked up only now and then
        listed = here.get(PAGE)

    assert len(listed.context["sessions"]) == 6


def test_nobody_ends_the_session_of_another(ada):
    mine = signed_in(ada)
    mine.get(PAGE)
    mallory = signed_in(User.objects.create_user("mallory"))
    row = UserSession.objects.get(user=ada)

    assert mallory.post("/account/sessions/end/", {"session": row.pk}).status_code == 404
    mallory.post("/account/sessions/end/")
    assert mine.get(PAGE).status_code == 200


def test_a_session_is_written_down_once_in_five_minutes(ada):
    client, seen = signed_in(ada), []
    for moment in ("12:04:59", "12:05:01", "12:09:58", "12:10:00"):
        with time_machine.travel(f"2026-03-24T{moment}Z", tick=False):
            client.get(PAGE)
        seen.append(f"{UserSession.objects.get().last_seen_at:%H:%M:%S}")

    assert seen == ["12:04:59", "12:04:59", "12:04:59", "12:10:00"]


def test_a_change_of_the_secret_key_ends_no_session_that_is_only_listed(ada, settings):
    settings.SECRET_KEY = "the-old-key"
    here, there = signed_in(ada), signed_in(ada)
    there.get(PAGE)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "the-new-key", ["the-old-key"]
    here.get(PAGE)

    assert there.get(PAGE).status_code == 200


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (FIREFOX, "Firefox on Linux"),
        (
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit Chrome/140.0 Safari/537.36",
            "Chrome on Windows",
        ),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X) Version/19 Safari/605", "Safari on macOS"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("", "Unknown"),
    ],
)
def test_browsers_are_called_by_their_names(agent, name):
    assert browser_of(agent) == name


def test_a_key_is_shown_once_and_belongs_to_the_team_that_its_person_works_in(ada):
    group = Group.objects.create(name="Analysts")
    team = Team.objects.create(group=group)
    ada.groups.add(group)
    client = recently(signed_in(ada))
    session = client.session
    session[TEAM] = team.pk
    session.save()
    made = client.post("/account/keys/", {"name": "Laptop"}, follow=True)
    row = ApiKey.objects.get()

    shown = made.text.partition('<code id="new-key">')[2]
    assert row.is_valid(shown.partition("</code>")[0])
    assert (row.user, row.team, row.name, row.is_limited) == (ada, team, "Laptop", False)
    assert 'id="new-key"' not in client.get(PAGE).text
    assert row.prefix in client.get(PAGE).text


def test_a_key_can_be_limited_to_applications_and_to_a_time(ada):
    one = make_application(slug="one", title="One")
    hidden = make_application(slug="hidden", title="Hidden", is_shared=False)
    client = recently(signed_in(ada))
    day = (timezone.now() + timedelta(days=3)).date()
    limited = {"name": "Bot", "until": day.isoformat()}
    refused = client.post("/account/keys/", {**limited, "applications": [hidden.pk]})
    past = client.post("/account/keys/", {"name": "Bot", "until": "2020-01-01"})
    late = client.post("/account/keys/", {"name": "Bot", "until": "2200-01-01"})
    client.post("/account/keys/", {**limited, "applications": [one.pk]})
    row = ApiKey.objects.get()

    assert (refused.status_code, past.status_code) == (400, 400)
    assert "Hidden" not in refused.text
    assert "Choose a date in the future." in past.text
    assert "Enter a date from 1900 to 2199." in late.text
    assert list(row.applications.all()) == [one]
    assert row.is_limited
    assert row.expiry_date is not None
    assert row.expiry_date.date() == day + timedelta(days=1)


def test_a_person_has_a_limited_number_of_keys(ada, monkeypatch):
    monkeypatch.setattr(own_keys, "KEYS_PER_PERSON", 1)
    client = recently(signed_in(ada))
    client.post("/account/keys/", {"name": "One"})
    refused = client.post("/account/keys/", {"name": "Two"})
    client.post("/account/keys/revoke/", {"prefix": ApiKey.objects.get().prefix})
    client.post("/account/keys/", {"name": "Three"})

    assert refused.status_code == 400
    assert "You already have the maximum number of keys (1)." in refused.text
    assert [key.name for key in ApiKey.objects.filter(revoked=False)] == ["Three"]


def test_nobody_revokes_the_key_of_another(ada):
    key, _ = ApiKey.objects.create_key(name="Of ada", user=ada)
    mallory = signed_in(User.objects.create_user("mallory"))

    assert mallory.post("/account/keys/revoke/", {"prefix": key.prefix}).status_code == 404
    key.refresh_from_db()
    assert not key.revoked


def test_the_installation_can_forbid_keys_of_people(ada, settings):
    settings.PERSONAL_API_KEYS = False
    client = recently(signed_in(ada))

    assert "API keys" not in client.get(PAGE).text
    assert client.post("/account/keys/", {"name": "Laptop"}).status_code == 404


def test_a_key_wants_the_password_again(ada):
    client = signed_in(ada)
    asked = client.post("/account/keys/", {"name": "Laptop"})

    assert asked.status_code == 302
    assert asked["Location"].startswith("/accounts/reauthenticate/")
    assert not ApiKey.objects.exists()


def test_linked_accounts_are_offered_where_there_is_a_provider(ada, settings):
    client = signed_in(ada)
    without = client.get("/account/").content
    app = {"provider_id": "acme", "name": "Acme", "client_id": "id", "settings": {}}
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [app]}}

    assert b"Linked accounts" not in without
    assert b"Linked accounts" in client.get("/account/").content
