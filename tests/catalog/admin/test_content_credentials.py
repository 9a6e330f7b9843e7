"""Predefined tools and toolsets in the admin: shown without credentials, saved with them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from apps.catalog.content.installed import look_again
from apps.catalog.models import ContentItem
from apps.workspace.local.models import Secret
from tests.catalog.admin.test_moving import MARK, tracking
from tests.catalog.rows import make_operator

LIST = "/admin/catalog/contentitem/"
PATH = "authorization.key"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _content_is_looked_at():
    look_again()
    yield
    look_again()


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(make_operator())
    return client


def make_item(document: Any = None) -> ContentItem:
    text = json.dumps(document or tracking(), separators=(",", ":"))
    row = ContentItem.objects.create(kind="toolset", name="tracking", text=text)
    look_again()
    return row


def posted(text: str) -> dict[str, str]:
    return {"kind": "toolset", "name": "tracking", "text": text, "files": "{}"}


def shown(answer: Any) -> str:
    return str(answer.context["adminform"].form["text"].value())


def test_no_page_shows_a_credential_and_saving_keeps_it(operator):
    row = make_item()
    before = row.text

    form = operator.get(f"{LIST}{row.pk}/change/")
    operator.post(f"{LIST}{row.pk}/change/", posted(shown(form)))

    pages = [form, operator.get(f"{LIST}item/toolset/tracking/"), operator.get(LIST)]
    assert [MARK in page.content.decode() for page in pages] == [False] * 3
    assert "$hidden" in shown(form)
    row.refresh_from_db()
    assert row.text == before


def test_an_edit_keeps_what_is_hidden_and_the_preview_reads_it(operator):
    row = make_item()
    text = shown(operator.get(f"{LIST}{row.pk}/change/")).replace('"look"', '"find"')

    preview = operator.post(f"{LIST}preview/", posted(text)).json()
    operator.post(f"{LIST}{row.pk}/change/", posted(text))

    assert preview["problems"] == []
    assert MARK not in json.dumps(preview)
    row.refresh_from_db()
    document = json.loads(row.text)
    assert document["authorization"]["key"] == MARK
    assert document["tools"][0]["open_ai_tool"]["function"]["name"] == "find"


def test_what_is_hidden_does_not_go_to_another_server(operator):
    row = make_item()
    text = shown(operator.get(f"{LIST}{row.pk}/change/")).replace("track.example", "mine.example")

    answer = operator.post(f"{LIST}{row.pk}/change/", posted(text))

    [error] = answer.context["adminform"].form.errors["text"]
    assert error.startswith(f"{PATH}: is a hidden credential that was stored for other servers")
    assert shown(answer) == text


def test_a_name_of_a_secret_that_there_is_not_is_refused(operator):
    Secret.objects.create(name="tracking", value="x", servers=["https://track.example.org"])

    answer = operator.post(f"{LIST}add/", posted(json.dumps(tracking({"$secret": "trakking"}))))

    assert answer.context["adminform"].form.errors["text"] == [
        f"{PATH}: there is no secret 'trakking'; did you mean 'tracking'?"
    ]


def test_a_plain_credential_is_saved_and_flagged(operator):
    answer = operator.post(f"{LIST}add/", posted(json.dumps(tracking())), follow=True)

    assert f"{PATH}: is a plain credential" in answer.content.decode()
    assert ContentItem.objects.get().text == json.dumps(tracking())
