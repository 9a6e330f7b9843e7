"""The language of the pages for a user."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import translation

from apps.accounts.languages import accepted_language
from apps.accounts.preferences import Preferences
from apps.chat.pages.script_texts import version_of_texts
from apps.errors import ContextTooLong
from apps.runs.explanations import error_text

pytestmark = pytest.mark.django_db

LOOK = {"theme": "system", "density": "comfortable", "width": "normal", "text_size": "normal"}


@pytest.fixture
def anna(client: Client) -> User:
    user = User.objects.create_user("anna", password="secret")
    client.force_login(user)
    return user


def language_of(response: Any) -> Any:
    return response["Content-Language"]


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("de-CH, en;q=0.5", "de"),
        ("fr, uk;q=0.8, en;q=0.5", "uk"),
        ("AR-EG", "ar"),
        ("*", "en"),
        ("x" * 10_000, "en"),
        ("de;q=nonsense", "en"),
    ],
)
def test_the_first_language_of_the_browser_that_has_texts_is_spoken(accepted, language):
    assert accepted_language(accepted) == language


def test_a_page_is_in_the_language_of_the_browser(client):
    page = client.get("/settings/", headers={"accept-language": "uk"})

    assert language_of(page) == "uk"
    assert b'<html lang="uk"' in page.content


def test_arabic_is_written_from_the_right(client):
    page = client.get("/settings/", headers={"accept-language": "ar"})

    assert b'<html lang="ar" dir="rtl"' in page.content


def test_a_choice_of_the_browser_comes_before_what_it_asks_for(client):
    client.cookies["language"] = "de"

    assert language_of(client.get("/", headers={"accept-language": "uk"})) == "de"


def test_a_choice_of_the_account_comes_before_that_of_the_browser(client, anna):
    Preferences.objects.create(user=anna, language="ar")
    client.cookies["language"] = "de"

    assert language_of(client.get("/settings/", headers={"accept-language": "uk"})) == "ar"


def test_a_language_that_is_saved_holds_at_once_and_for_the_browser(client, anna):
    form = {"language": "de", **LOOK}

    saved = client.post("/settings/appearance/", form)
    del client.cookies["sessionid"]

    assert (saved.status_code, saved.cookies["language"].value) == (302, "de")
    assert Preferences.objects.get(user=anna).language == "de"
    assert language_of(client.get("/settings/")) == "de"


def test_as_the_browser_says_forgets_the_choice(client, anna):
    Preferences.objects.create(user=anna, language="ar")
    client.cookies["language"] = "ar"
    form = {"language": "", **LOOK}

    client.post("/settings/appearance/", form)

    assert language_of(client.get("/settings/", headers={"accept-language": "uk"})) == "uk"


def test_an_unknown_language_is_refused(client, anna):
    form = {"language": "tlh", **LOOK}

    assert client.post("/settings/appearance/", form).status_code == 400
    assert not Preferences.objects.filter(user=anna).exists()


def test_operators_read_english(client):
    page = client.get("/admin/login/", headers={"accept-language": "de"})

    assert language_of(page) == "en"


@pytest.mark.parametrize("language", ["de", "uk", "ar"])
def test_the_texts_of_scripts_are_fetched_once(client, language):
    version = version_of_texts(language)

    texts = client.get(f"/texts/{language}-{version}.js")
    older = client.get(f"/texts/{language}-0.js")

    assert texts["Content-Type"].startswith("text/javascript")
    assert texts["Cache-Control"] == "public, max-age=31536000, immutable"
    assert older["Cache-Control"] == "no-cache"
    assert older.content == texts.content


@pytest.mark.parametrize("name", ["en-0", "fr-0"])
def test_a_language_without_texts_has_no_script(client, name):
    assert client.get(f"/texts/{name}.js").status_code == 404


def test_an_error_is_told_in_the_language_of_the_person():
    error = ContextTooLong(12_345, 8000)

    with translation.override("de"):
        told = error_text(error)

    assert "12.345" in told
    assert told != str(error) == error_text(error)
    assert "12,345" in str(error)
