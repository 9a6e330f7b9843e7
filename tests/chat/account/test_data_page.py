"""The page on which users import, export and delete their conversations."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from apps.accounts.caller import bucket_of
from apps.accounts.models import ApiKey
from apps.accounts.preferences import Preferences
from apps.catalog.models import Application
from apps.chat.account import data_page
from apps.conversations.models import Conversation, Folder
from apps.workspace.local.models import StoredFile
from tests.chat.conftest import PASSWORD
from tests.chat.imports.samples import LIBRECHAT, TRIP
from tests.chat.pages.test_views import add_application

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage")]


@pytest.fixture
def application() -> Application:
    return add_application(title="Travel")


def sent(browser: Client, application: str, content: bytes) -> tuple[int, str]:
    """Return the status and the page after a file was sent."""
    file = SimpleUploadedFile("conversations.json", content)
    fields = {"application": application, "file": file}
    answer = browser.post("/settings/data/import/", fields)
    return answer.status_code, answer.text


def test_a_file_is_imported_and_the_page_says_what_came_in(browser, grace, application):
    content = json.dumps([TRIP, LIBRECHAT, {"odd": "<b>"}]).encode()

    status, text = sent(browser, application.slug, content)
    _, again = sent(browser, application.slug, content)

    assert status == 200
    assert "Imported 2 conversations with 9 messages into “Travel”." in text
    assert "Untitled</span> skipped: unknown format" in text
    assert "No new conversations were found." in again
    assert "2 conversations skipped because they were already imported" in again
    owners = set(Conversation.objects.values_list("owner", flat=True))
    assert owners == {bucket_of(grace.pk)}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"[1, 2", "The JSON is incomplete."),
        (b"\x00\x01", "This isn’t valid JSON. The error is on line 1."),
        (b"[]", "The file contains no conversations. Choose the"),
        (b"[{}, {}]", "It has no readable conversations (unknown format). Choose the"),
    ],
)
def test_a_file_that_is_none_is_refused_in_words(browser, application, content, problem):
    status, text = sent(browser, application.slug, content)

    assert (status, f"imported from “conversations.json”. {problem}" in text) == (400, True)
    assert not Conversation.objects.exists()


def test_fields_are_checked(browser, application, monkeypatch):
    hidden = add_application(is_public=False, is_shared=False)
    nothing = browser.post("/settings/data/import/", {"application": application.slug})
    other = sent(browser, hidden.slug, b"[]")
    monkeypatch.setattr(data_page, "LARGEST_FILE", 3)
    large = sent(browser, application.slug, b"[  ]")

    assert (nothing.status_code, other[0], large[0]) == (400, 400, 400)
    assert "Choose a file first." in nothing.text
    assert "Choose an app that you have access to." in other[1]
    assert "If it’s a ZIP, unpack it and choose the conversations.json file inside." in large[1]


def test_the_address_of_an_import_leads_to_the_form(browser):
    answer = browser.get("/settings/data/import/")

    assert (answer.status_code, answer["Location"]) == (302, "/settings/data/")


@pytest.mark.parametrize("path", ["", "delete/"])
def test_the_settings_navigation_shows_where_the_user_is(browser, path):
    text = browser.get(f"/settings/data/{path}").text

    assert '<a href="/settings/data/" aria-current="page">' in text


@pytest.mark.parametrize("path", ["", "import/"])
def test_visitors_are_led_to_sign_in(path):
    visitor: Any = Client()

    assert visitor.post(f"/settings/data/{path}").status_code in (302, 405)
    assert visitor.get("/settings/data/").status_code == 302


async def content_of(answer: Any) -> bytes:
    return b"".join([piece async for piece in answer.streaming_content])


def add(application: Application, owner: str, title: str = "Mine", **fields: Any) -> Conversation:
    return Conversation.objects.create(application=application, owner=owner, title=title, **fields)


@pytest.mark.postgres
def test_the_export_has_all_conversations_of_its_owner_and_can_be_imported(
    browser, grace, application
):
    mine = bucket_of(grace.pk)
    sent(browser, application.slug, json.dumps([TRIP]).encode())
    add(application, f"{mine}-team-3", "a/../b", archived_at=timezone.now())
    add(application, f"{mine}0", "Foreign")
    add(application, mine, "Temporary", temporary_until=timezone.now())
    add(application, mine, "Deleted", deleted_at=timezone.now())
    found = Conversation.objects.get(imported_from="chatgpt")
    for bucket, name in ((mine, f"conversations/{found.pk}/plan.txt"), ("user-99", "other.txt")):
        StoredFile.objects.create(
            bucket=bucket, name=name, storage_name=name, content_type="text/plain", size=3
        )

    answer = browser.get("/settings/data/export/")
    content = async_to_sync(content_of)(answer)

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        listed = json.loads(archive.read("files.json"))
    assert names[0].startswith("conversations/2023-11-14 Trip to Riga ")
    assert len(names) == 4
    assert not any(".." in name or name.startswith("/") for name in names)
    assert [(one["name"], one["conversation"]) for one in listed] == [("plan.txt", str(found.pk))]
    assert answer["Content-Disposition"].startswith('attachment; filename="conversations-20')
    ada = Client()
    ada.force_login(User.objects.create_user("ada"))
    _, text = sent(ada, application.slug, content)
    assert "Imported 1 conversation with 5 messages" in text


def test_all_conversations_are_deleted_once_the_word_is_written(browser, grace, application):
    mine = bucket_of(grace.pk)
    add(application, mine)
    add(application, f"{mine}-team-3")
    foreign = add(application, "user-99", "Foreign")
    asked = browser.get("/settings/data/delete/").text

    refused = browser.post("/settings/data/delete/", {"confirmation": "yes"})
    left = Conversation.objects.count()
    deleted = browser.post("/settings/data/delete/", {"confirmation": " Delete "}, follow=True)

    assert "2 conversations will be permanently deleted" in asked
    assert (refused.status_code, left) == (400, 3)
    assert "2 conversations were deleted." in deleted.text
    assert list(Conversation.objects.all()) == [foreign]


def confirmed(browser: Client) -> None:
    """Confirm the user's identity, as if just done."""
    answer = browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert answer.status_code == 302


def test_an_account_is_deleted_with_all_that_is_its_own(browser, grace, application):
    mine = bucket_of(grace.pk)
    Application.objects.filter(pk=application.pk).update(owner=grace)
    add(application, mine)
    add(application, mine, "Deleted", deleted_at=timezone.now())
    foreign = add(application, "user-99", "Foreign")
    Folder.objects.create(owner=mine, name="Folder", position=1)
    ApiKey.objects.create_key(name="Laptop", user=grace)
    unconfirmed = browser.get("/account/delete/")
    confirmed(browser)
    page = browser.get("/account/delete/").text

    refused = browser.post("/account/delete/", {"confirmation": "ada"})
    gone = browser.post("/account/delete/", {"confirmation": "grace"})

    assert unconfirmed.status_code == 302
    assert "reauthenticate" in unconfirmed["Location"]
    assert "1 app that you own, which will no longer have an owner" in page
    assert (refused.status_code, gone.status_code) == (400, 302)
    assert not User.objects.filter(username="grace").exists()
    assert list(Conversation.objects.all()) == [foreign]
    assert not Folder.objects.exists()
    assert not ApiKey.objects.exists()
    assert Application.objects.get(pk=application.pk).owner is None
    assert browser.get("/account/").status_code == 302


def test_an_account_that_an_operator_deletes_leaves_no_conversations_behind(grace, application):
    mine = bucket_of(grace.pk)
    add(application, mine)
    foreign = add(application, "user-99", "Foreign")
    Folder.objects.create(owner=mine, name="Folder", position=1)

    grace.delete()

    assert list(Conversation.objects.all()) == [foreign]
    assert not Folder.objects.exists()


def test_the_last_superuser_stays(browser, grace):
    User.objects.filter(pk=grace.pk).update(is_superuser=True)
    confirmed(browser)
    page = browser.get("/account/delete/").text
    refused = browser.post("/account/delete/", {"confirmation": "grace"})
    User.objects.create_superuser("ada", "", PASSWORD)
    confirmed(browser)
    taken = browser.post("/account/delete/", {"confirmation": "grace"})

    assert "You are the only superuser." in page
    assert "Delete my account" not in page
    assert (refused.status_code, taken.status_code) == (409, 302)
    assert [one.username for one in User.objects.filter(is_active=True)] == ["ada"]


def test_a_person_chooses_how_long_conversations_are_kept(browser, grace):
    page = browser.get("/settings/data/").text
    saved = browser.post("/settings/retention/", {"retention_days": "90"})
    wrong = browser.post("/settings/retention/", {"retention_days": "5"})
    kept = Preferences.objects.get(user=grace).retention_days
    browser.post("/settings/retention/", {"retention_days": ""})

    assert '<option value="" selected>Never</option>' in page
    assert saved["Location"] == "/settings/data/#retention"
    assert (wrong.status_code, kept) == (400, 90)
    assert Preferences.objects.get(user=grace).retention_days is None
