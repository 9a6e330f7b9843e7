"""The page on which users choose which tools need their approval."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import translation

from apps.accounts.caller import caller_in
from apps.chat.account import consents
from apps.live.models import Consent
from tests.catalog.rows import make_application

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


def test_tools_are_listed_by_their_titles_below_their_app(ada: User, monkeypatch: Any):
    row = make_application(title="Demo", is_shared=True)
    called = {row.pk: ["Weather_now", "internal_file_list", "internal_task"]}
    monkeypatch.setattr(consents, "tools_called", lambda bucket: called)
    client = Client()
    client.force_login(ada)

    page = client.get("/approvals/").content.decode()

    assert consents.choices(caller_in(ada.pk))[0]["tools"] == [
        ("internal_file_list", "List files"),
        ("internal_task", "Sub-agent"),
        ("Weather_now", "Weather now"),
    ]
    assert '<optgroup label="Demo">' in page
    value = f"{row.pk}:Weather_now"
    assert f'<option value="{value}" data-title="Weather now">Demo: Weather now</option>' in page


def test_decisions_are_listed_by_the_titles_of_their_tools(ada: User):
    row = make_application(title="Demo", is_shared=True)
    client = Client()
    client.force_login(ada)

    client.post("/approvals/", {"ask": f"{row.pk}:internal_file_list"})
    client.post("/approvals/", {"ask": f"{row.pk}:"})
    page = client.get("/approvals/").content.decode()

    assert set(Consent.objects.values_list("tool", flat=True)) == {"internal_file_list", ""}
    assert '<h3 dir="auto">List files</h3>' in page
    assert '<h3 dir="auto">All tools</h3>' in page
    assert "for List files in Demo" in page


def test_built_in_tools_are_listed_in_the_language_of_the_page(ada: User, monkeypatch: Any):
    row = make_application(title="Demo", is_shared=True)
    monkeypatch.setattr(
        consents, "tools_called", lambda bucket: {row.pk: ["manage-todo", "Weather_now"]}
    )

    with translation.override("de"):
        tools = consents.choices(caller_in(ada.pk))[0]["tools"]

    assert tools == [("manage-todo", "Aufgabenliste"), ("Weather_now", "Weather now")]
