"""The page on which users store their own keys of model services."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from apps.workspace.local.models import Deployment, PersonalKey
from tests.contract import proves
from tests.workspace.local.key_service import KeyedService, serve_keyed

pytestmark = pytest.mark.django_db

OWN = "sk-own-1234567890"
PAGE = "/connections/"


@pytest.fixture
def service(settings: Any) -> Iterator[KeyedService]:
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    with serve_keyed(OWN) as running:
        for name, takes in (("m", True), ("n", True), ("closed", False)):
            Deployment.objects.create(
                deployment_id=name,
                display_name=f"Model {name}",
                base_url=running.url,
                model_name=name,
                takes_personal_keys=takes,
            )
        yield running


def signed_in(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.create_user(name))
    return client


def name_of(service: KeyedService) -> str:
    return f"openai|{service.url.removesuffix('/v1')}"


def post(client: Client, action: str, **fields: str) -> str:
    answer = client.post(f"{PAGE}keys/{action}/", fields, follow=True)
    assert answer.redirect_chain == [(PAGE, 302)], answer.status_code
    return str(answer.text)


@proves("T-56")
def test_a_key_is_stored_tested_replaced_and_deleted_and_never_shown(service):
    ada = signed_in("ada")
    host = service.url.removeprefix("http://").removesuffix("/v1")
    empty = ada.get(PAGE).text
    wrong = post(ada, "store", service=name_of(service), key=" sk-wrong ")
    refused = post(ada, "test", service=name_of(service))
    stored = post(ada, "store", service=name_of(service), key=OWN)
    tested = post(ada, "test", service=name_of(service))
    row = PersonalKey.objects.get()
    deleted = post(ada, "delete", key=str(row.pk))

    assert "Model m, Model n." in empty
    assert "closed" not in empty
    assert "You haven’t saved a key, so the installation’s key is used." in empty
    assert f"Your key for {host} was saved." in wrong
    assert f"{host}: The service does not accept the API key. Check the key." in refused
    assert f"{host}: The model answers; first token after" in tested
    assert (row.key, row.user.get_username()) == (OWN, "ada")
    assert f"Your key for {host} was deleted." in deleted
    assert service.sent == ["sk-wrong", OWN]
    assert not PersonalKey.objects.exists()
    for page in (wrong, refused, stored, tested, deleted):
        assert OWN not in page
        assert "sk-wrong" not in page


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("", "Enter a key."),
        ("two words", "A key can contain only ASCII characters, without spaces."),
        ("schlüssel", "A key can contain only ASCII characters, without spaces."),
        ("a" * 1001, "A key can have at most 1,000 characters."),
    ],
)
def test_what_is_no_key_is_refused(service, key, problem):
    assert problem in post(signed_in("ada"), "store", service=name_of(service), key=key)
    assert not PersonalKey.objects.exists()


@proves("T-56")
def test_nobody_reaches_the_key_of_another_person(service):
    ada, bob = signed_in("ada"), signed_in("bob")
    post(ada, "store", service=name_of(service), key=OWN)
    row = PersonalKey.objects.get()
    tries = (
        bob.post(f"{PAGE}keys/delete/", {"key": row.pk}),
        bob.post(f"{PAGE}keys/test/", {"service": name_of(service)}),
        bob.post(f"{PAGE}keys/delete/", {"key": "none"}),
        ada.post(f"{PAGE}keys/store/", {"service": "openai|http://example.org", "key": OWN}),
    )

    assert [answer.status_code for answer in tries] == [404] * 4
    assert "Saved just now" not in bob.get(PAGE).text
    assert PersonalKey.objects.count() == 1
    assert service.sent == []


def test_visitors_have_no_keys(service):
    visitor = Client()

    page = visitor.get(PAGE).text
    sent = visitor.post(f"{PAGE}keys/store/", {"service": name_of(service), "key": OWN})

    assert "Model keys" not in page
    assert sent.headers["location"].startswith("/accounts/login/")
    assert not PersonalKey.objects.exists()


def test_a_key_whose_service_is_not_asked_any_more_is_listed_and_can_be_deleted(service):
    ada = signed_in("ada")
    post(ada, "store", service=name_of(service), key=OWN)
    Deployment.objects.update(base_url="https://models.example.org/v1")
    page = ada.get(PAGE).text
    gone = post(ada, "delete", key=str(PersonalKey.objects.get().pk))

    assert "No model uses this URL anymore, so the key isn’t used." in page
    assert "models.example.org" in page
    assert "was deleted." in gone


def test_without_services_that_take_keys_the_page_does_not_speak_of_them():
    assert "Model keys" not in signed_in("ada").get(PAGE).text


def test_an_account_that_is_deleted_takes_its_keys_with_it(service):
    user = User.objects.create_user("ada")
    PersonalKey.objects.create(user=user, provider="openai", origin="x", stored_at=timezone.now())
    user.delete()

    assert not PersonalKey.objects.exists()
