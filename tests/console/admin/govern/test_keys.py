from __future__ import annotations

import json
import re
from typing import Any

import pytest
import time_machine
from django.contrib.admin.utils import quote
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from apps.accounts.models import ApiKey
from apps.catalog.models import OperatorKey
from tests.catalog.rows import make_application, make_operator

pytestmark = pytest.mark.django_db

KEYS = "/admin/accounts/apikey/"
OPERATOR_KEYS = "/admin/catalog/operatorkey/"


def create(client: Client, url: str, fields: dict[str, Any]) -> str:
    """Create a key. Return the address of the next page."""
    answer = client.post(f"{url}add/", fields)
    assert answer.status_code == 302
    return str(answer["Location"])


def shown_key(page: str) -> str:
    found = re.search(r'id="created-key" readonly value="([^"]+)"', page)
    assert found is not None
    return found[1]


def test_a_key_is_shown_once_and_stored_as_a_hash(admin_client):
    application = make_application()

    place = create(admin_client, KEYS, {"name": "robot", "applications": [application.pk]})
    created = admin_client.get(place)

    secret = shown_key(created.text)
    key = ApiKey.objects.get()
    assert ApiKey.objects.is_valid(secret)
    assert (list(key.applications.all()), key.is_limited) == ([application], True)
    assert "no-store" in created["Cache-Control"]
    assert place == f"{KEYS}{key.prefix}/created/"
    assert secret not in (key.id, key.hashed_key, key.prefix)
    for url in (KEYS, f"{KEYS}{key.pk}/change/", place):
        assert secret not in admin_client.get(url, follow=True).text


@pytest.mark.parametrize("url", [KEYS, OPERATOR_KEYS])
def test_the_list_of_keys_links_to_pages_whose_address_has_no_hash(admin_client, url):
    place = create(admin_client, url, {"name": "robot"})

    prefix = place.removeprefix(url).removesuffix("/created/")
    change = f"{url}{prefix}/change/"
    hashed = (ApiKey if url == KEYS else OperatorKey).objects.get().hashed_key
    listed = admin_client.get(url).text
    assert len(prefix) == 8
    assert f'href="{change}' in listed
    assert quote(hashed) not in listed
    assert "robot" in admin_client.get(change).text


@pytest.mark.parametrize("url", [KEYS, OPERATOR_KEYS])
@pytest.mark.parametrize("page", ["change", "delete", "history"])
def test_no_page_of_a_key_links_to_its_hash(admin_client, url, page):
    create(admin_client, url, {"name": "robot"})
    key = (ApiKey if url == KEYS else OperatorKey).objects.get()
    admin_client.post(f"{url}{key.prefix}/change/", {"name": "Robot"})

    shown = admin_client.get(f"{url}{key.prefix}/{page}/").text
    links = re.findall(r'(?:href|action)="([^"]*)"', shown)

    assert any(f"/{key.prefix}/" in link for link in links)
    assert quote(key.hashed_key) not in " ".join(links)


def test_deleting_a_user_lists_their_keys_without_hashes(admin_client):
    user = User.objects.create_user("robot")
    create(admin_client, KEYS, {"name": "robot", "user": user.pk})
    key = ApiKey.objects.get()

    shown = admin_client.get(f"/admin/auth/user/{user.pk}/delete/").text

    assert f"{KEYS}{key.prefix}/change/" in shown
    assert quote(key.hashed_key) not in shown


def test_the_history_of_a_key_is_found_by_its_prefix(admin_client):
    create(admin_client, KEYS, {"name": "robot"})
    key = ApiKey.objects.get()
    admin_client.post(f"{KEYS}{key.prefix}/change/", {"name": "Robot"})

    assert len(admin_client.get(f"{KEYS}{key.prefix}/history/").context["action_list"]) == 2


def test_a_key_may_have_limits_of_its_own_and_none_are_those_of_all_keys(admin_client):
    create(admin_client, KEYS, {"name": "all", "requests_per_minute": "", "tokens_per_minute": ""})
    create(
        admin_client, KEYS, {"name": "own", "requests_per_minute": "5", "tokens_per_minute": "0"}
    )
    refused = admin_client.post(f"{KEYS}add/", {"name": "bad", "requests_per_minute": "-1"})

    rows = ApiKey.objects.values_list("name", "requests_per_minute", "tokens_per_minute")
    assert sorted(rows) == [("all", None, None), ("own", 5, 0)]
    assert "greater than or equal to 0" in refused.text


def test_reloading_the_page_with_the_key_makes_no_second_one(admin_client):
    place = create(admin_client, KEYS, {"name": "robot"})
    admin_client.get(place)

    again = admin_client.get(place).text

    assert ApiKey.objects.count() == 1
    assert "cannot be shown again" in again
    assert 'id="created-key"' not in again


def test_a_key_waits_encrypted_in_the_session_of_whoever_made_it(admin_client):
    place = create(admin_client, KEYS, {"name": "robot"})
    other = Client()
    other.force_login(make_operator("other"))

    waiting = Session.objects.get(pk=admin_client.session.session_key).get_decoded()
    elsewhere = other.get(place).text
    secret = shown_key(admin_client.get(place).text)

    assert secret not in json.dumps(waiting)
    assert "cannot be shown again" in elsewhere


def test_a_key_that_nobody_looked_at_in_time_is_not_shown(admin_client):
    with time_machine.travel("2026-03-24 12:00", tick=False) as clock:
        place = create(admin_client, KEYS, {"name": "robot"})
        clock.shift(301)
        page = admin_client.get(place).text

    assert "cannot be shown again" in page


def test_a_key_that_could_never_be_used_is_refused(admin_client):
    end = {"expiry_date_0": "2020-01-01", "expiry_date_1": "00:00:00"}

    answer = admin_client.post(f"{KEYS}add/", {"name": "robot", **end})

    assert "in the past" in answer.text
    assert ApiKey.objects.count() == 0


def test_keys_are_revoked_for_good(admin_client):
    key, secret = ApiKey.objects.create_key(name="robot")

    admin_client.post(KEYS, {"action": "revoke", "_selected_action": [key.pk]})
    page = admin_client.get(f"{KEYS}{key.pk}/change/".replace(".", "_2E"), follow=True)

    assert not ApiKey.objects.is_valid(secret)
    assert 'name="revoked"' not in page.text


def test_the_page_of_a_key_tells_whether_it_reaches_what_its_person_has(admin_client):
    ada, grace = (User.objects.create_user(name) for name in ("ada", "grace"))

    def reach(**fields: Any) -> str:
        key, _ = ApiKey.objects.create_key(name="k", **fields)
        page = admin_client.get(f"{KEYS}{quote(key.pk)}/change/").text
        return next(re.finditer(r"The key can[^<]*|None, because [^<]*", page))[0].strip()

    assert reach(user=ada, created_by=ada) == "The key can access them."
    assert "because another user created it" in reach(user=ada, created_by=grace)
    assert "the user must create a new key on their account page" in reach(user=ada)
    assert reach() == "None, because the key belongs to the installation."


def test_people_make_operator_keys_for_themselves(admin_client):
    other = make_operator("other")

    place = create(admin_client, OPERATOR_KEYS, {"name": "deploy", "user": other.pk})

    assert shown_key(admin_client.get(place).text)
    assert OperatorKey.objects.get().user.username == "operator"


def test_the_kind_of_key_that_opens_nothing_is_not_offered(admin_client):
    assert admin_client.get("/admin/rest_framework_api_key/apikey/").status_code == 404
