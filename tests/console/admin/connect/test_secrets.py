from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.catalog.content.installed import expire_content
from apps.catalog.models import Application, Change, ContentItem, empty_manifest
from apps.workspace.local.models import Secret
from tests.catalog.rows import store_application
from tests.console.pages import staff
from tests.sites.serving import free_port

LIST = "/admin/workspace/secret/"
MARK = "sk-marked-0123456789"

pytestmark = pytest.mark.django_db


def fields(**changes: str) -> dict[str, str]:
    valid = {
        "name": "shop",
        "description": "",
        "new_value": MARK,
        "servers": "api.example.org\nhttp://localhost:8080",
        "seen_version": "",
    }
    return {**valid, **changes}


def make_secret(**values: Any) -> Secret:
    fields = {"name": "shop", "value": MARK, "servers": ["https://api.example.org"], **values}
    return Secret.objects.create(**fields)


def toolset(secret: str = "shop", url: str = "https://api.example.org/items") -> dict[str, Any]:
    return {
        "type": "mcp",
        "name": "shop",
        "mcp_server_info": {
            "url": url,
            "protocol": "sse",
            "authorization": {"type": "bearer", "token": {"$secret": secret}},
        },
    }


def use_in_application(title: str = "Shop") -> Application:
    manifest = {**empty_manifest(), "tool_sets": [toolset()]}
    return store_application(slug=title.lower(), title=title, manifest=manifest)


def errors(answer: Any) -> list[str]:
    return list(answer.context["adminform"].form.errors)


def test_a_value_goes_in_and_is_never_shown(admin_client):
    admin_client.post(f"{LIST}add/", fields())

    secret = Secret.objects.get()
    page = admin_client.get(f"{LIST}{secret.pk}/change/").text
    assert secret.value == MARK
    assert secret.servers == ["https://api.example.org", "http://localhost:8080"]
    assert str(secret.created_by) == str(secret.changed_by) == "operator"
    assert "A value is stored." in page
    assert MARK not in page
    assert MARK not in admin_client.get(LIST).text
    with connection.cursor() as cursor:
        cursor.execute("SELECT value FROM workspace_secret")
        assert MARK not in cursor.fetchone()[0]


def test_a_form_that_is_shown_again_does_not_hold_the_value(admin_client):
    answer = admin_client.post(f"{LIST}add/", fields(servers=""))

    assert errors(answer) == ["servers"]
    assert MARK not in answer.text


MISTAKES = [
    ({"new_value": ""}, "new_value"),
    ({"new_value": "two\tlines\x07"}, "new_value"),
    ({"name": "a b"}, "name"),
    ({"servers": "*"}, "servers"),
    ({"servers": "*.com"}, "servers"),
    ({"servers": "https://user@api.example.org"}, "servers"),
    ({"servers": "api.example.org/path"}, "servers"),
    ({"servers": "ftp://api.example.org"}, "servers"),
    ({"is_for_any_server": "on"}, "is_for_any_server"),
    ({"servers": "\n".join(f"a{n}.example.org" for n in range(51))}, "servers"),
]
"""Inputs, each with the field of its error."""


def test_mistakes_stand_at_their_fields(admin_client):
    found = [
        (typed, errors(admin_client.post(f"{LIST}add/", fields(**typed)))) for typed, _ in MISTAKES
    ]

    assert found == [(typed, [wrong]) for typed, wrong in MISTAKES]
    assert not Secret.objects.exists()


def test_a_rotated_value_is_told_with_who_uses_it(admin_client):
    secret = make_secret()
    use_in_application()

    answer = admin_client.post(
        f"{LIST}{secret.pk}/change/",
        fields(new_value="sk-new", servers="api.example.org"),
        follow=True,
    )

    secret.refresh_from_db()
    assert (secret.value, secret.version) == ("sk-new", 2)
    assert secret.rotated_at is not None
    assert "used by 1 of the applications" in answer.text


def test_a_value_stays_while_only_its_description_changes(admin_client):
    secret = make_secret()

    admin_client.post(
        f"{LIST}{secret.pk}/change/",
        fields(new_value="", servers="api.example.org", description="From the shop."),
    )

    secret.refresh_from_db()
    assert (secret.value, secret.description) == (MARK, "From the shop.")


@pytest.mark.parametrize(
    "changes",
    [
        {"servers": "api.example.org\nmine.example.net"},
        {"servers": "*.example.org"},
        {"servers": "http://api.example.org"},
        {"servers": "", "is_for_any_server": "on"},
    ],
)
def test_a_stored_value_is_not_let_out_to_further_servers(admin_client, changes):
    secret = make_secret()

    answer = admin_client.post(f"{LIST}{secret.pk}/change/", fields(new_value="", **changes))

    assert errors(answer) == ["new_value"]
    assert Secret.objects.get().servers == ["https://api.example.org"]


def test_servers_are_taken_away_without_the_value(admin_client):
    secret = make_secret(servers=["https://*.example.org", "https://other.example.net"])

    admin_client.post(f"{LIST}{secret.pk}/change/", fields(new_value="", servers="api.example.org"))

    assert Secret.objects.get().servers == ["https://api.example.org"]


def test_any_server_takes_a_permission_of_its_own():
    client = staff("add_secret", "view_secret")
    anywhere = fields(servers="", is_for_any_server="on")

    refused = client.post(f"{LIST}add/", anywhere)

    assert errors(refused) == ["servers"]
    user = get_user_model().objects.get(username="staff")
    user.user_permissions.add(Permission.objects.get(codename="send_secret_anywhere"))
    client.post(f"{LIST}add/", anywhere)
    assert Secret.objects.get().is_for_any_server is True


REFERENCE = "secret/data/shop#token"


def test_a_path_in_vault_takes_a_permission_and_its_value_again(settings):
    settings.VAULT_URL = "https://vault.example.org"
    client = staff("add_secret", "view_secret", "change_secret")
    in_vault = fields(new_value=REFERENCE, is_in_vault="on")

    refused = client.post(f"{LIST}add/", in_vault)
    user = get_user_model().objects.get(username="staff")
    user.user_permissions.add(Permission.objects.get(codename="send_secret_anywhere"))
    wrong = client.post(f"{LIST}add/", {**in_vault, "new_value": "shop#token"})
    client.post(f"{LIST}add/", in_vault)
    secret = Secret.objects.get()
    switched = client.post(f"{LIST}{secret.pk}/change/", fields(new_value=""))

    assert (errors(refused), errors(wrong)) == (["is_in_vault"], ["new_value"])
    assert (secret.value, secret.is_in_vault) == (REFERENCE, True)
    assert errors(switched) == ["new_value"]


def test_the_page_of_a_secret_tells_why_vault_cannot_be_read(admin_client, settings):
    settings.VAULT_URL = f"http://127.0.0.1:{free_port()}"
    settings.VAULT_TOKEN = "root"
    secret = make_secret(value=REFERENCE, is_in_vault=True)

    page = admin_client.get(f"{LIST}{secret.pk}/change/").text
    listed = admin_client.get(LIST).text

    assert "Vault cannot be read at secret/data/shop: " in page
    assert "In Vault" in listed
    assert REFERENCE not in page + listed


def test_who_may_not_see_secrets_sees_none():
    secret = make_secret()
    client = staff("view_application")

    assert client.get(LIST).status_code == 403
    assert client.get(f"{LIST}{secret.pk}/change/").status_code == 403


def test_who_may_only_look_is_shown_no_value():
    secret = make_secret()

    page = staff("view_secret").get(f"{LIST}{secret.pk}/change/")

    assert page.status_code == 200
    assert MARK not in page.text


def test_a_secret_lists_who_names_it_and_cannot_be_deleted_while_anybody_does(admin_client):
    secret = make_secret()
    application = use_in_application()
    text = '{"type": "rest-api", "name": "r", "tools": [], "authorization": {"token": {"$secret": "shop"}}}'
    ContentItem.objects.create(kind="toolset", name="desk", text=text)
    expire_content()

    page = admin_client.get(f"{LIST}{secret.pk}/change/").text
    refused = admin_client.post(f"{LIST}{secret.pk}/delete/", {"post": "yes"})

    assert f"/admin/catalog/application/{application.pk}/studio/" in page
    assert "/admin/catalog/contentitem/item/toolset/desk/" in page
    assert "application Shop" in refused.text
    assert Secret.objects.filter(pk=secret.pk).exists()

    application.delete()
    ContentItem.objects.all().delete()
    expire_content()
    admin_client.post(f"{LIST}{secret.pk}/delete/", {"post": "yes"})
    assert not Secret.objects.exists()


def test_the_list_asks_the_same_number_of_questions_however_many_there_are(admin_client):
    for number in range(12):
        make_secret(name=f"s{number}")
        use_in_application(f"Shop{number}")
    admin_client.get(LIST)  # records where the session is used

    with CaptureQueriesContext(connection) as queries:
        admin_client.get(LIST)

    assert len(queries) <= 15


def test_two_editors_at_once_are_told(admin_client):
    secret = make_secret()
    stale = fields(new_value="sk-mine", servers="api.example.org", seen_version="1")
    secret.save()

    answer = admin_client.post(f"{LIST}{secret.pk}/change/", stale)

    assert "Another user saved this secret" in answer.text
    assert Secret.objects.get().value == MARK


def test_the_history_tells_who_changed_what_and_no_value(admin_client):
    secret = make_secret()
    changes = fields(new_value="sk-new-0123456789", servers="b.example.org")
    admin_client.post(f"{LIST}{secret.pk}/change/", changes)

    listed = admin_client.get(f"{LIST}{secret.pk}/history/").text
    change = Change.objects.get(object_id=secret.pk, what=Change.What.CHANGED)
    shown = admin_client.get(f"{LIST}{secret.pk}/history/{change.pk}/").text

    assert change.before is not None
    assert change.after is not None
    assert change.before["servers"] == ["https://api.example.org"]
    assert change.after["servers"] == ["https://b.example.org"]
    assert change.before["value"] != change.after["value"]
    for place in (listed, shown, json.dumps([change.before, change.after])):
        assert MARK not in place
        assert "sk-new" not in place


def test_an_earlier_state_with_other_servers_does_not_come_back_with_the_present_value(
    admin_client,
):
    secret = make_secret(servers=["https://old.example.org"])
    secret.servers = ["https://api.example.org"]
    secret.save()
    change = Change.objects.get(object_id=secret.pk, what=Change.What.CHANGED)
    address = f"{LIST}{secret.pk}/history/{change.pk}/restore/before/"

    answer = admin_client.post(address, {"seen_version": "2"})

    assert "The value was stored for other servers." in answer.text
    assert Secret.objects.get().servers == ["https://api.example.org"]
