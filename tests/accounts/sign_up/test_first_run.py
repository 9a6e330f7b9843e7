"""The first administrator is created once on a page, with a token from the log."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from apps.accounts.models import SetupToken
from apps.accounts.sign_up import first_run
from quickapps_site.startup import first_look

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

PASSWORD = "a-password-for-tests"


def post(token: str, client: Client | None = None, **fields: str) -> Any:
    passwords = {"password1": PASSWORD, "password2": PASSWORD}
    typed = {"token": token, "username": "root", "email": "", **passwords, **fields}
    return (client or Client()).post("/setup/", typed)


def offered() -> str:
    token = first_run.create_setup_token()
    assert token is not None
    return token


def test_the_token_of_the_log_makes_an_administrator_and_the_page_is_gone():
    token, client = offered(), Client()
    assert client.get("/setup/").status_code == 200

    answer = post(token, client)

    root = User.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    assert (root.is_superuser, root.is_staff, root.check_password(PASSWORD)) == (True, True, True)
    assert client.session[SESSION_KEY] == str(root.pk)
    assert [client.get("/setup/").status_code, post(token).status_code] == [404, 404]
    assert not SetupToken.objects.exists()


@pytest.mark.parametrize("token", ["wrong", "", "ß", "a" * 5000])
def test_another_token_makes_nobody(token):
    offered()

    answer = post(token)

    assert answer.status_code == 200
    assert not User.objects.exists()


def test_who_has_not_the_token_learns_nothing_of_names_and_who_has_it_does():
    token = offered()
    User.objects.create_user("anna")

    guessed = [post("wrong", username=name).context["form"].errors for name in ("anna", "new")]
    known = post(token, username="anna").context["form"].errors

    assert (
        guessed[0]
        == guessed[1]
        == {
            "token": [
                "This token is incorrect or was already used. Copy the token from the server log."
            ]
        }
    )
    assert known == {"username": ["A user with that username already exists."]}


def test_guessing_is_throttled_and_the_address_of_somebody_else_is_not():
    token = offered()

    guesses = [post(f"guess-{number}").status_code for number in range(12)]

    assert guesses == [200] * 10 + [429] * 2
    elsewhere = Client(REMOTE_ADDR="198.51.100.7")
    assert post(token, elsewhere).status_code == 302


def test_each_process_has_a_token_and_all_are_gone_with_the_first_that_is_used():
    first, second = offered(), offered()

    assert post(second).status_code == 302

    with pytest.raises(first_run.SetupRefused):
        first_run.make_administrator(first, "other", "", PASSWORD)
    assert User.objects.count() == 1


def test_an_administrator_who_may_not_sign_in_is_none():
    User.objects.create_superuser("gone", is_active=False)

    assert first_run.create_setup_token() is not None
    assert Client().get("/setup/").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_the_log_says_the_page_and_the_token(caplog):
    with caplog.at_level(logging.WARNING):
        first_look.offer_setup("::1", 8000)

    [record] = [each for each in caplog.records if each.name == "quickapps_site.startup.first_look"]
    assert "open http://[::1]:8000/setup/ and enter the token " in record.getMessage()
    assert post(record.getMessage().rpartition(" ")[2]).status_code == 302
    caplog.clear()
    first_look.offer_setup("::1", 8000)
    assert "setup" not in caplog.text


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(
    "connection.vendor == 'sqlite'", reason="SQLite lets one write at a time; PostgreSQL tests."
)
def test_two_at_once_make_one_administrator():
    tokens = [offered(), offered()]

    def make(number: int) -> bool:
        try:
            first_run.make_administrator(tokens[number % 2], f"root-{number}", "", PASSWORD)
        except first_run.SetupRefused:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(6) as threads:
        assert sum(threads.map(make, range(6))) == 1
    assert User.objects.count() == 1
