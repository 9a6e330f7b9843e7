"""Predefined tools and toolsets in the admin: shown without credentials, saved with them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from apps.catalog.content.installed import look_again
from apps.catalog.models import ContentItem
from apps.workspace.local.models import Secret
from tests.catalog.rows import make_operator
from tests.console.admin.test_moving import MARK, tracking

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


def test_moving_makes_a_secret_and_names_it_in_the_draft(operator):
    row = make_item()
    before = row.text
    page = operator.get(f"{LIST}{row.pk}/change/")
    typed = shown(page).replace('"look"', '"find"')

    answer = operator.post(f"{LIST}{row.pk}/change/", posted(typed) | {"_move": PATH})

    assert f'name="_move" value="{PATH}"' in page.content.decode()
    secret = Secret.objects.get()
    assert (secret.name, secret.value) == ("tracking-key", MARK)
    assert secret.servers == ["https://track.example.org"]
    assert MARK not in answer.content.decode()
    assert 'name="_move"' not in answer.content.decode()
    named = tracking({"$secret": "tracking-key"})
    named["tools"][0]["open_ai_tool"]["function"]["name"] = "find"
    assert json.loads(shown(answer)) == named
    row.refresh_from_db()
    assert row.text == before

    operator.post(f"{LIST}{row.pk}/change/", posted(shown(answer)))
    row.refresh_from_db()
    assert json.loads(row.text) == named


def test_moving_out_of_a_new_item_keeps_what_was_typed(operator):
    tool = tracking()["tools"][0]
    about = {"type": "header", "key": "X-Api-Key"}
    constant = {"type": None, "const": MARK, "parameter_info": about}
    tool["open_ai_tool"]["function"]["parameters"]["properties"]["k"] = constant
    path = "open_ai_tool.function.parameters.properties.k.const"
    typed = {"kind": "tool", "name": "look-up", "text": json.dumps(tool), "files": "{}"}

    answer = operator.post(f"{LIST}add/?kind=tool", typed | {"_move": path})

    assert Secret.objects.get().name == "look-up-k"
    form = answer.context["adminform"].form
    assert (form["kind"].value(), form["name"].value()) == ("tool", "look-up")
    constant["const"] = {"$secret": "look-up-k"}
    assert json.loads(shown(answer)) == tool
    assert not ContentItem.objects.exists()


@pytest.mark.parametrize(
    ("text", "path", "told"),
    [
        ('{"no": json', PATH, "not valid JSON"),
        (json.dumps(tracking({"$secret": "x"})), PATH, "no plain credential"),
        (json.dumps({**tracking(), "tools": []}), PATH, "does not say which server"),
    ],
)
def test_what_cannot_be_moved_is_told_and_comes_back_as_it_was_typed(operator, text, path, told):
    answer = operator.post(f"{LIST}add/?kind=toolset", posted(text) | {"_move": path})

    assert told in answer.content.decode()
    assert shown(answer) == text
    assert not Secret.objects.exists()


def test_the_preview_tells_what_can_be_moved(operator):
    preview = operator.post(f"{LIST}preview/", posted(json.dumps(tracking()))).json()

    assert [(doubt["path"], doubt["may_move"]) for doubt in preview["doubts"]] == [(PATH, True)]


def test_moving_takes_the_permission_to_add_secrets():
    row = make_item()
    user = make_operator()
    user.is_superuser = False
    user.save()
    codenames = ("view_contentitem", "change_contentitem")
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client = Client()
    client.force_login(user)

    page = client.get(f"{LIST}{row.pk}/change/").content.decode()
    refused = client.post(f"{LIST}{row.pk}/change/", posted(row.text) | {"_move": PATH})

    assert "_move" not in page
    assert PATH in page
    assert refused.status_code == 403
    assert not Secret.objects.exists()
