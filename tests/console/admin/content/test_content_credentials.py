"""Predefined tools and toolsets in the admin are saved with names of secrets for credentials."""

from __future__ import annotations

import json
from typing import Any

import pytest

from apps.catalog.content.installed import expire_content
from apps.catalog.credentials.review import SAVING_MOVES
from apps.catalog.extraction import FORBIDDEN
from apps.catalog.models import Change, ContentItem
from apps.workspace.local.models import Secret
from tests.catalog.credentials.documents import MARK, tracking
from tests.catalog.rows import make_application, manifest_with, secrets
from tests.console.pages import staff

LIST = "/admin/catalog/contentitem/"
PATH = "authorization.key"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _content_is_looked_at():
    expire_content()
    yield
    expire_content()


def make_item(document: Any = None) -> ContentItem:
    text = json.dumps(document or tracking(), separators=(",", ":"))
    row = ContentItem.objects.create(kind="toolset", name="tracking", text=text)
    expire_content()
    return row


def posted(text: str) -> dict[str, str]:
    return {"kind": "toolset", "name": "tracking", "text": text, "files": "{}"}


def shown(answer: Any) -> str:
    return str(answer.context["adminform"].form["text"].value())


STUCK = {**tracking(), "tools": []}
"""Its credential stays in the row, because its server is unknown."""
NAMED = tracking({"$secret": "tracking-key"})


def test_saving_makes_a_secret_and_names_it(admin_client):
    answer = admin_client.post(f"{LIST}add/", posted(json.dumps(tracking())), follow=True)

    page = answer.text
    assert "the secret &#x27;tracking-key&#x27;, for https://track.example.org." in page
    assert MARK not in page
    assert secrets() == [("tracking-key", MARK, ["https://track.example.org"])]
    row = ContentItem.objects.get()
    assert json.loads(row.text) == NAMED
    assert MARK not in str(list(Change.objects.values()))


def test_what_is_saved_again_makes_no_second_secret(admin_client):
    admin_client.post(f"{LIST}add/", posted(json.dumps(tracking())))
    row = ContentItem.objects.get()
    address = f"{LIST}{row.pk}/change/"

    admin_client.post(address, posted(shown(admin_client.get(address))))
    admin_client.post(address, posted(json.dumps(tracking())))

    row.refresh_from_db()
    assert json.loads(row.text) == NAMED
    assert len(secrets()) == 1


def test_a_tool_without_a_name_lends_its_secret_that_of_the_item(admin_client):
    tool = tracking()["tools"][0]
    about = {"type": "header", "key": "X-Api-Key"}
    constant = {"type": None, "const": MARK, "parameter_info": about}
    tool["open_ai_tool"]["function"]["parameters"]["properties"]["k"] = constant
    typed = {"kind": "tool", "name": "look-up", "text": json.dumps(tool), "files": "{}"}

    admin_client.post(f"{LIST}add/?kind=tool", typed)

    constant["const"] = {"$secret": "look-up-k"}
    assert json.loads(ContentItem.objects.get().text) == tool
    assert secrets() == [("look-up-k", MARK, ["https://track.example.org"])]


def test_without_the_permission_nothing_is_saved_and_nothing_typed_is_lost():
    text = json.dumps(tracking())

    answer = staff("view_contentitem", "change_contentitem", "add_contentitem").post(
        f"{LIST}add/?kind=toolset", posted(text)
    )

    assert answer.context["adminform"].form.errors["text"] == [f"{PATH}: {FORBIDDEN}"]
    assert shown(answer) == text
    assert (ContentItem.objects.count(), secrets()) == (0, [])


def test_what_is_sent_elsewhere_by_those_who_refer_to_it_stays_in_the_row(admin_client):
    override = {"tools": tracking(url="https://mine.example.net/")["tools"]}
    reference = {"type": "predefined", "template_name": "tracking", "override": override}
    make_application(manifest=manifest_with(tool_sets=[reference]))

    answer = admin_client.post(f"{LIST}add/", posted(json.dumps(tracking())), follow=True)

    assert (json.loads(ContentItem.objects.get().text), secrets()) == (tracking(), [])
    page = answer.text
    assert f"{PATH}: is a plain credential and stays in the row, hidden, because references" in page


def test_no_page_shows_a_credential_that_stays_and_saving_keeps_it(admin_client):
    row = make_item(STUCK)
    before = row.text

    form = admin_client.get(f"{LIST}{row.pk}/change/")
    saved = admin_client.post(f"{LIST}{row.pk}/change/", posted(shown(form)), follow=True)

    pages = [form, saved, admin_client.get(f"{LIST}item/toolset/tracking/"), admin_client.get(LIST)]
    assert [MARK in page.text for page in pages] == [False] * 4
    assert f"{PATH}: is a plain credential and stays in the row" in saved.text
    assert "$hidden" in shown(form)
    row.refresh_from_db()
    assert row.text == before


def test_an_edit_keeps_what_is_hidden_and_the_preview_reads_it(admin_client):
    row = make_item(STUCK)
    text = shown(admin_client.get(f"{LIST}{row.pk}/change/")).replace('"X-Key"', '"X-Other"')

    preview = admin_client.post(f"{LIST}preview/", posted(text)).json()
    admin_client.post(f"{LIST}{row.pk}/change/", posted(text))

    assert preview["problems"] == []
    assert MARK not in json.dumps(preview)
    row.refresh_from_db()
    authorization = json.loads(row.text)["authorization"]
    assert (authorization["key"], authorization["name"]) == (MARK, "X-Other")


def test_what_is_hidden_does_not_go_to_another_server(admin_client):
    row = make_item(STUCK)
    document = json.loads(shown(admin_client.get(f"{LIST}{row.pk}/change/")))
    text = json.dumps({**document, "tools": tracking()["tools"]})

    answer = admin_client.post(f"{LIST}{row.pk}/change/", posted(text))

    [error] = answer.context["adminform"].form.errors["text"]
    assert error.startswith(f"{PATH}: is a hidden credential that was stored for other servers")
    assert shown(answer) == text


def test_a_name_of_a_secret_that_there_is_not_is_refused(admin_client):
    Secret.objects.create(name="tracking", value="x", servers=["https://track.example.org"])

    answer = admin_client.post(f"{LIST}add/", posted(json.dumps(tracking({"$secret": "trakking"}))))

    assert answer.context["adminform"].form.errors["text"] == [
        f"{PATH}: the secret 'trakking' does not exist; did you mean 'tracking'?"
    ]


def test_the_preview_tells_what_saving_makes_a_secret_of(admin_client):
    preview = admin_client.post(f"{LIST}preview/", posted(json.dumps(tracking()))).json()

    assert preview["doubts"] == [{"path": PATH, "message": SAVING_MOVES}]
    assert secrets() == []
