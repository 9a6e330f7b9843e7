"""Saving makes a secret of each plain credential, and the manifest names it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db.models.signals import pre_save

from apps.catalog.extraction import extract
from apps.catalog.models import Application, Change, empty_manifest
from apps.workspace.local.models import Secret
from tests.catalog.rows import secrets
from tests.console.pages import staff

LIST = "/admin/catalog/application/"
MARK = "sk-marked-0123456789"
OTHER = "sk-other-0123456789"

pytestmark = pytest.mark.django_db


def tracking(key: Any = MARK, url: str = "https://track.example.org/v2") -> dict[str, Any]:
    function = {
        "name": "look",
        "description": "Looks.",
        "parameters": {"type": "object", "properties": {}},
    }
    return {
        "type": "rest-api",
        "name": "tracking",
        "authorization": {"type": "api_key", "name": "X-Key", "location": "header", "key": key},
        "tools": [
            {
                "type": "restapi-tool",
                "rest_api_method_info": {"method_url": url, "method_type": "get"},
                "open_ai_tool": {"function": function},
            }
        ],
    }


def manifest(*toolsets: Any) -> dict[str, Any]:
    return {**empty_manifest(), "tool_sets": list(toolsets)}


def make_application(*toolsets: Any) -> Application:
    return Application.objects.create(slug="parcels", title="Parcels", manifest=manifest(*toolsets))


def posted(document: Any, **changes: str) -> dict[str, str]:
    text = document if isinstance(document, str) else json.dumps(document)
    return {"title": "Typed", "slug": "parcels", "description": "", "manifest": text, **changes}


def shown_manifest(answer: Any) -> Any:
    return json.loads(answer.context["adminform"].form["manifest"].value())


PATH = "tool_sets[0].authorization.key"


NAMED = {"$secret": "tracking-key"}
STUCK = {**tracking(), "tools": []}
"""Its credential stays in the row: no server is known for it."""


MADE = ("tracking-key", MARK, ["https://track.example.org"])


def test_saving_makes_a_secret_for_the_server_and_names_it(admin_client):
    answer = admin_client.post(f"{LIST}add/", posted(manifest(tracking())), follow=True)

    assert secrets() == [MADE]
    assert Application.objects.get().manifest == manifest(tracking(NAMED))
    assert str(Secret.objects.get().created_by) == "operator"
    page = answer.text
    assert "the secret &#x27;tracking-key&#x27; now, for https://track.example.org." in page
    assert MARK not in page
    assert MARK not in str(list(Change.objects.values()))


def test_the_same_saved_again_makes_no_second_secret(admin_client):
    admin_client.post(f"{LIST}add/", posted(manifest(tracking())))
    row = Application.objects.get()
    address = f"{LIST}{row.pk}/change/"
    shown = shown_manifest(admin_client.get(address))

    admin_client.post(address, posted(shown))
    admin_client.post(address, posted(manifest(tracking())))

    assert shown == manifest(tracking(NAMED))
    assert secrets() == [MADE]
    row.refresh_from_db()
    assert row.manifest == manifest(tracking(NAMED))


def test_a_renamed_toolset_keeps_its_secret(admin_client):
    admin_client.post(f"{LIST}add/", posted(manifest(tracking())))
    row = Application.objects.get()
    renamed = {**tracking(NAMED), "name": "parcels"}

    admin_client.post(f"{LIST}{row.pk}/change/", posted(manifest(renamed)))

    row.refresh_from_db()
    assert row.manifest == manifest(renamed)
    assert secrets() == [MADE]


def test_another_credential_at_the_same_place_makes_another_secret(admin_client):
    admin_client.post(f"{LIST}add/", posted(manifest(tracking())))
    row = Application.objects.get()

    admin_client.post(f"{LIST}{row.pk}/change/", posted(manifest(tracking(OTHER))))

    row.refresh_from_db()
    assert row.manifest == manifest(tracking({"$secret": "tracking-key-2"}))
    assert secrets() == [MADE, ("tracking-key-2", OTHER, ["https://track.example.org"])]


def test_a_copy_names_the_secrets_of_the_original(admin_client):
    admin_client.post(f"{LIST}add/", posted(manifest(tracking())))
    address = f"{LIST}add/?copy={Application.objects.get().pk}"
    shown = admin_client.get(address)

    admin_client.post(address, posted(shown_manifest(shown), slug="copied"))

    assert MARK not in shown.text
    assert Application.objects.get(slug="copied").manifest == manifest(tracking(NAMED))
    assert secrets() == [MADE]


def test_without_the_permission_nothing_is_saved_and_nothing_typed_is_lost():
    row = make_application()
    client = staff("view_application", "change_application", "publish_application")
    draft = posted(manifest(tracking()), description="Half a sent")

    answer = client.post(f"{LIST}{row.pk}/change/", draft)

    form = answer.context["adminform"].form
    assert form.errors["manifest"] == [
        f"{PATH}: is a plain credential, which is kept as a secret, and your account may not add "
        "secrets. Ask for the permission to add secrets, or name one that there is: "
        '{"$secret": "name"}.'
    ]
    assert (form["manifest"].value(), form["description"].value()) == (
        draft["manifest"],
        "Half a sent",
    )
    row.refresh_from_db()
    assert (row.title, row.manifest, secrets()) == ("Parcels", manifest(), [])


def test_naming_a_secret_takes_no_permission_to_add_one():
    row = make_application()
    Secret.objects.create(name="tracking-key", value="x", servers=["https://track.example.org"])
    client = staff("view_application", "change_application", "publish_application")

    client.post(f"{LIST}{row.pk}/change/", posted(manifest(tracking(NAMED))))

    row.refresh_from_db()
    assert row.manifest == manifest(tracking(NAMED))


def test_what_cannot_be_a_secret_stays_hidden_in_the_row_with_a_warning(admin_client):
    answer = admin_client.post(f"{LIST}add/", posted(manifest(STUCK)), follow=True)
    row = Application.objects.get()
    shown = shown_manifest(admin_client.get(f"{LIST}{row.pk}/change/"))
    admin_client.post(f"{LIST}{row.pk}/change/", posted(shown, description="More"))

    page = answer.text
    assert (
        f"{PATH}: is a plain credential and stays in the row, hidden, because the document" in page
    )
    assert MARK not in page
    assert list(shown["tool_sets"][0]["authorization"]["key"]) == ["$hidden"]
    row.refresh_from_db()
    assert (row.manifest, row.description) == (manifest(STUCK), "More")
    assert secrets() == []


def test_what_is_hidden_becomes_a_secret_once_its_server_is_known(admin_client):
    row = make_application(STUCK)
    shown = shown_manifest(admin_client.get(f"{LIST}{row.pk}/change/"))
    key = shown["tool_sets"][0]["authorization"]["key"]

    refused = admin_client.post(f"{LIST}{row.pk}/change/", posted(manifest(tracking(key))))
    admin_client.post(f"{LIST}{row.pk}/change/", posted(manifest(tracking())))

    findings = refused.context["adminform"].form.fields["manifest"].widget.findings
    assert [found.path for found in findings if found.severity == "error"] == [PATH]
    row.refresh_from_db()
    assert row.manifest == manifest(tracking(NAMED))
    assert secrets() == [MADE]


def test_a_page_that_was_opened_with_a_mark_saves_the_name_of_the_secret(admin_client):
    row = make_application(tracking())
    shown = shown_manifest(admin_client.get(f"{LIST}{row.pk}/change/"))
    extraction = extract(row.manifest)
    Application.objects.update(manifest=extraction.document)

    admin_client.post(f"{LIST}{row.pk}/change/", posted(shown))

    assert list(shown["tool_sets"][0]["authorization"]["key"]) == ["$hidden"]
    row.refresh_from_db()
    assert (row.title, row.manifest) == ("Typed", manifest(tracking(NAMED)))
    assert secrets() == [MADE]


def test_a_state_with_a_mark_is_restored_with_the_name_of_the_secret(admin_client):
    row = make_application(tracking())
    change = Change.objects.get(kind="catalog.application")
    row.manifest = extract(row.manifest).document
    row.title = "Later"
    row.save()

    address = f"{LIST}{row.pk}/history/{change.pk}/restore/after/"
    admin_client.post(address, {"seen_version": row.version})

    row.refresh_from_db()
    assert (row.title, row.manifest) == ("Parcels", manifest(tracking(NAMED)))
    assert secrets() == [MADE]
    assert MARK not in str(list(Change.objects.values()))


def test_looking_at_what_restoring_would_do_makes_no_secret(admin_client):
    row = make_application(tracking())
    change = Change.objects.get(kind="catalog.application")
    row.title = "Later"
    row.save()

    page = admin_client.get(f"{LIST}{row.pk}/history/{change.pk}/restore/after/").text

    assert MARK not in page
    assert secrets() == []


def test_where_encrypting_fails_in_the_middle_nothing_is_saved(admin_client):
    other = {**tracking(OTHER), "name": "zebra"}
    count = iter(range(10))

    def fail_second(**event: Any) -> None:
        if next(count) == 1:
            raise RuntimeError("no encryption")

    pre_save.connect(fail_second, sender=Secret)
    try:
        with pytest.raises(RuntimeError, match="no encryption"):
            admin_client.post(f"{LIST}add/", posted(manifest(tracking(), other)))
    finally:
        pre_save.disconnect(fail_second, sender=Secret)

    assert secrets() == []
    assert not Application.objects.exists()
    assert not Change.objects.exists()


def test_a_name_that_there_is_not_is_told_with_those_that_are_like_it(admin_client):
    Secret.objects.create(name="tracking", value="x", servers=["https://track.example.org"])
    unknown = manifest(tracking({"$secret": "trakking"}))

    answer = admin_client.post(f"{LIST}check/", {"manifest": json.dumps(unknown)})

    [finding] = answer.json()["findings"][:1]
    assert (finding["severity"], finding["path"]) == ("error", PATH)
    assert finding["message"] == "there is no secret 'trakking'; did you mean 'tracking'?"


def test_a_secret_that_is_for_another_server_is_a_warning(admin_client):
    Secret.objects.create(name="tracking", value="x", servers=["https://else.example.org"])

    answer = admin_client.post(
        f"{LIST}check/", {"manifest": json.dumps(manifest(tracking({"$secret": "tracking"})))}
    )

    found = {finding["path"]: finding["message"] for finding in answer.json()["findings"]}
    assert found[PATH] == (
        "The secret 'tracking' is not meant for https://track.example.org. Add the server to the "
        "secret."
    )
