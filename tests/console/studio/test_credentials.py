"""The studio converts each plain credential to a secret, and never shows it again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db.models.signals import pre_save
from django.test import Client

from apps.catalog.actions import publish
from apps.catalog.extraction import extract
from apps.catalog.models import Application, ApplicationDraft, Change
from apps.workspace.local.models import Secret
from tests.catalog.credentials.documents import MARK, OTHER, PATH, SERVERS, manifest, tracking
from tests.catalog.rows import make_deployment, secrets, store_application
from tests.console.pages import signed_in, staff
from tests.console.studio.asking import page_data, send, written

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

CHECK = "/admin/catalog/application/check/"
NAMED = {"$secret": "tracking-key"}
MADE = ("tracking-key", MARK, SERVERS)
STUCK = {**tracking(), "tools": []}
"""Its credential stays in the row, because its server is unknown."""


@pytest.fixture(autouse=True)
def a_model() -> None:
    make_deployment()


def make_application(*toolsets: Any) -> Application:
    return store_application(slug="parcels", title="Parcels", manifest=manifest(*toolsets))


def save(client: Client, row: Application, document: Any, **more: Any) -> Any:
    data = page_data(client, row)
    body = written(data, manifest=document, version=data["version"], base=written(data), **more)
    return send(client, row, "save", body)


def key_of(document: Any) -> Any:
    return document["tool_sets"][0]["authorization"]["key"]


def test_a_secret_is_for_the_server_and_nothing_shows_its_value(admin_client):
    row = make_application()

    saved = save(admin_client, row, manifest(tracking()))
    publish.execute(row, "Tracking", user=Secret.objects.get().created_by)

    assert secrets() == [MADE]
    assert str(Secret.objects.get().created_by) == "operator"
    assert Application.objects.get().manifest == manifest(tracking(NAMED))
    assert MARK not in saved.text + str(page_data(admin_client, row))
    assert MARK not in str(list(Change.objects.values()))


def test_a_renamed_toolset_keeps_its_secret(admin_client):
    row = make_application()
    save(admin_client, row, manifest(tracking()))
    renamed = {**tracking(NAMED), "name": "parcels"}

    save(admin_client, row, manifest(renamed))

    assert ApplicationDraft.objects.get().manifest == manifest(renamed)
    assert secrets() == [MADE]


def test_another_credential_at_the_same_place_makes_another_secret(admin_client):
    row = make_application()
    save(admin_client, row, manifest(tracking()))

    save(admin_client, row, manifest(tracking(OTHER)))

    named = manifest(tracking({"$secret": "tracking-key-2"}))
    assert ApplicationDraft.objects.get().manifest == named
    assert secrets() == [MADE, ("tracking-key-2", OTHER, SERVERS)]


def test_a_copy_names_the_secrets_of_the_original(admin_client):
    original = make_application(tracking())

    new = {"title": "Copied", "start": "copy", "copy": original.pk}
    admin_client.post("/admin/catalog/application/new/", new)

    assert ApplicationDraft.objects.get().manifest == manifest(tracking(NAMED))
    assert secrets() == [MADE]


def test_without_the_permission_to_add_secrets_nothing_is_saved():
    row = make_application()
    client = staff("view_application", "change_application")

    refused = save(client, row, manifest(tracking()), description="Half a sent")

    message = (
        "is a plain credential, which is stored as a secret, and your account may not add secrets. "
        'Ask for the permission to add secrets, or use an existing one: {"$secret": "name"}.'
    )
    found = [(one["path"], one["message"]) for one in refused.json()["findings"]]
    assert (refused.status_code, found) == (422, [(PATH, message)])
    assert (ApplicationDraft.objects.count(), secrets()) == (0, [])


def test_naming_a_secret_takes_no_permission_to_add_one():
    row = make_application()
    Secret.objects.create(name="tracking-key", value="x", servers=SERVERS)
    client = staff("view_application", "change_application")

    saved = save(client, row, manifest(tracking(NAMED)))

    assert saved.status_code == 200
    assert ApplicationDraft.objects.get().manifest == manifest(tracking(NAMED))


def test_what_cannot_be_a_secret_stays_hidden_with_a_warning(admin_client):
    row = make_application()

    saved = save(admin_client, row, manifest(STUCK)).json()
    checked = send(admin_client, row, "check", written(saved)).json()["findings"]
    save(admin_client, row, saved["manifest"], description="More")

    warnings = {one["path"]: one["message"] for one in checked if one["severity"] == "warning"}
    assert list(key_of(saved["manifest"])) == ["$hidden"]
    assert "is a plain credential and stays in the row, hidden" in warnings[PATH]
    draft = ApplicationDraft.objects.get()
    assert (draft.manifest, draft.description) == (manifest(STUCK), "More")
    assert secrets() == []


def test_what_is_hidden_becomes_a_secret_once_its_server_is_known(admin_client):
    row = make_application(STUCK)
    hidden = key_of(page_data(admin_client, row)["manifest"])

    refused = save(admin_client, row, manifest(tracking(hidden)))
    save(admin_client, row, manifest(tracking()))

    assert [one["path"] for one in refused.json()["findings"]] == [PATH]
    assert ApplicationDraft.objects.get().manifest == manifest(tracking(NAMED))
    assert secrets() == [MADE]


def test_a_page_that_was_opened_with_a_hidden_credential_saves_the_name_of_its_secret(
    admin_client,
):
    row = make_application(tracking())
    data = page_data(admin_client, row)
    Application.objects.update(manifest=extract(row.manifest).document)

    body = written(data, title="Typed") | {"version": data["version"], "base": written(data)}
    saved = send(admin_client, row, "save", body)

    assert (list(key_of(data["manifest"])), saved.status_code) == (["$hidden"], 200)
    draft = ApplicationDraft.objects.get()
    assert (draft.title, draft.manifest) == ("Typed", manifest(tracking(NAMED)))
    assert secrets() == [MADE]


def test_a_credential_that_the_first_replaced_is_merged_without_being_shown():
    row = make_application(tracking(OTHER))
    anna, ben = signed_in("anna"), signed_in("ben")
    data = page_data(ben, row)
    save(anna, row, manifest(tracking()))

    body = written(data, title="Mine") | {"version": data["version"], "base": written(data)}
    merged = send(ben, row, "save", body)

    draft = ApplicationDraft.objects.get()
    assert (merged.status_code, MARK in merged.text) == (200, False)
    assert (draft.title, draft.manifest) == ("Mine", manifest(tracking(NAMED)))


def test_a_hidden_credential_is_not_sent_to_another_server(admin_client):
    row = make_application(tracking())
    hidden = key_of(page_data(admin_client, row)["manifest"])

    refused = save(admin_client, row, manifest(tracking(hidden, "https://evil.example.org/")))

    assert (refused.status_code, MARK in refused.text) == (422, False)
    assert [one["path"] for one in refused.json()["findings"]] == [PATH]
    assert (ApplicationDraft.objects.count(), secrets()) == (0, [])


def test_where_encrypting_fails_in_the_middle_nothing_is_saved(admin_client):
    row = make_application()
    other = {**tracking(OTHER), "name": "zebra"}
    count = iter(range(10))

    def fail_second(**event: Any) -> None:
        if next(count) == 1:
            raise RuntimeError("no encryption")

    pre_save.connect(fail_second, sender=Secret)
    try:
        with pytest.raises(RuntimeError, match="no encryption"):
            save(admin_client, row, manifest(tracking(), other))
    finally:
        pre_save.disconnect(fail_second, sender=Secret)

    assert (ApplicationDraft.objects.count(), secrets()) == (0, [])


def findings(client: Client, document: Any) -> list[dict[str, Any]]:
    answer = client.post(CHECK, {"manifest": json.dumps(document)})
    found: list[dict[str, Any]] = answer.json()["findings"]
    return found


def test_a_name_that_there_is_not_is_told_with_those_that_are_like_it(admin_client):
    Secret.objects.create(name="tracking", value="x", servers=SERVERS)

    finding = findings(admin_client, manifest(tracking({"$secret": "trakking"})))[0]

    assert (finding["severity"], finding["path"]) == ("error", PATH)
    assert finding["message"] == "the secret 'trakking' does not exist; did you mean 'tracking'?"


def test_a_secret_that_is_for_another_server_is_a_warning(admin_client):
    Secret.objects.create(name="tracking", value="x", servers=["https://else.example.org"])

    found = findings(admin_client, manifest(tracking({"$secret": "tracking"})))

    assert {one["path"]: one["message"] for one in found}[PATH] == (
        "The secret 'tracking' may not be sent to https://track.example.org. Add the server to "
        "the secret."
    )
