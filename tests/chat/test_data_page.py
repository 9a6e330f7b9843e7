"""The page on which people bring in conversations, take theirs along, and have them deleted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.accounts.buckets import bucket_of
from apps.catalog.models import Application
from apps.chat import data_page
from apps.chat.models import Conversation
from tests.chat.imports.samples import LIBRECHAT, TRIP
from tests.chat.test_views import add_application

pytestmark = pytest.mark.django_db


@pytest.fixture
def grace() -> User:
    return User.objects.create_user("grace")


@pytest.fixture
def client(grace: User) -> Client:
    signed_in = Client()
    signed_in.force_login(grace)
    return signed_in


@pytest.fixture
def application() -> Application:
    return add_application(title="Travel")


def sent(client: Client, application: str, content: bytes) -> tuple[int, str]:
    """Status and page after a file was sent."""
    file = SimpleUploadedFile("conversations.json", content)
    fields = {"application": application, "file": file}
    answer = client.post("/settings/data/import/", fields)
    return answer.status_code, answer.content.decode()


def test_a_file_is_imported_and_the_page_says_what_came_in(
    client: Client, grace: User, application: Application
):
    content = json.dumps([TRIP, LIBRECHAT, {"odd": "<b>"}]).encode()

    status, text = sent(client, application.slug, content)
    _, again = sent(client, application.slug, content)

    assert status == 200
    assert "2 conversations with 9 messages imported into “Travel”." in text
    assert "One without a title</span> skipped: it is of no program that is known here" in text
    assert "Nothing new was found." in again
    assert "2 skipped: they are there already" in again
    owners = set(Conversation.objects.values_list("owner", flat=True))
    assert owners == {bucket_of(grace.pk)}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"[1, 2", "The JSON ends in the middle."),
        (b"\x00\x01", "This is no valid JSON: line 1."),
        (b"[]", "There are no conversations in it."),
    ],
)
def test_a_file_that_is_none_is_refused_in_words(
    client: Client, application: Application, content: bytes, problem: str
):
    status, text = sent(client, application.slug, content)

    assert (status, f"Nothing was imported. {problem}" in text) == (400, True)
    assert not Conversation.objects.exists()


def test_fields_are_checked(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
):
    hidden = add_application(is_public=False, is_shared=False)
    nothing = client.post("/settings/data/import/", {"application": application.slug})
    other = sent(client, hidden.slug, b"[]")
    monkeypatch.setattr(data_page, "LARGEST_FILE", 3)
    large = sent(client, application.slug, b"[  ]")

    assert (nothing.status_code, other[0], large[0]) == (400, 400, 400)
    assert "file: choose a file first." in nothing.content.decode()
    assert "application: choose one that you may use." in other[1]
    assert "Unpack a ZIP, and choose the file conversations.json in it." in large[1]


@pytest.mark.parametrize("path", ["", "import/"])
def test_visitors_are_led_to_sign_in(path: str):
    visitor: Any = Client()

    assert visitor.post(f"/settings/data/{path}").status_code in (302, 405)
    assert visitor.get("/settings/data/").status_code == 302
