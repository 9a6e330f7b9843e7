"""Manifests under `/api/` accept credentials and return names of secrets."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.catalog.extraction import FORBIDDEN
from apps.catalog.models import Application, Change
from apps.workspace.local.models import Secret
from tests.catalog.credentials.documents import MARK, PATH, manifest, tracking
from tests.catalog.rows import secrets
from tests.console.pages import staff_account

URL = "/api/applications/"

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("demo_model"), pytest.mark.postgres]


def create(api: APIClient, document: Any) -> Any:
    return api.post(URL, {"slug": "parcels", "title": "Parcels", "manifest": document})


NAMED = manifest(tracking({"$secret": "tracking-key"}))


@pytest.mark.parametrize("method", ["post", "put", "patch"])
def test_saving_makes_a_secret_and_answers_with_its_name(api, method):
    sent = {"slug": "parcels", "title": "Parcels", "manifest": manifest(tracking())}
    if method != "post":
        create(api, manifest())
    address = URL if method == "post" else f"{URL}parcels/"

    saved = getattr(api, method)(address, sent)

    assert (saved.data["manifest"], saved.data["warnings"]) == (NAMED, [])
    assert secrets() == [("tracking-key", MARK, ["https://track.example.org"])]
    assert Application.objects.get().manifest == NAMED
    assert MARK not in str(list(Change.objects.values()))


def test_what_is_sent_again_makes_no_second_secret(api):
    created = create(api, manifest(tracking()))

    for document in (manifest(tracking()), created.data["manifest"]):
        changed = api.patch(f"{URL}parcels/", {"manifest": document})
        assert (changed.status_code, changed.data["manifest"]) == (200, NAMED)

    assert Secret.objects.count() == 1


def test_without_the_permission_to_add_secrets_nothing_is_saved(api):
    codenames = ("add_application", "change_application", "publish_application", "view_application")
    api.force_login(staff_account("limited", *codenames))

    refused = create(api, manifest(tracking()))

    assert (refused.status_code, refused.data) == (
        400,
        {
            "detail": "Nothing was saved.",
            "errors": [{"path": f"manifest.{PATH}", "message": FORBIDDEN}],
        },
    )
    assert (Application.objects.count(), secrets()) == (0, [])


def test_what_cannot_be_a_secret_has_a_mark_that_can_be_sent_back(api):
    stuck = manifest({**tracking(), "tools": []})
    created = create(api, stuck)
    exported = api.get(f"{URL}parcels/").data["manifest"]
    exported["orchestrator"]["max_iterations"] = 3

    changed = api.patch(f"{URL}parcels/", {"manifest": exported})

    assert changed.status_code == 200
    assert [found["path"] for found in created.data["warnings"]] == [f"manifest.{PATH}"]
    for answer in (created, changed):
        assert MARK not in json.dumps(answer.data, default=str)
    row = Application.objects.get()
    assert row.manifest["tool_sets"] == stuck["tool_sets"]
    assert row.manifest["orchestrator"]["max_iterations"] == 3


def test_a_mark_is_not_sent_back_for_another_server(api):
    stuck = manifest({**tracking(), "tools": []})
    create(api, stuck)
    exported = api.get(f"{URL}parcels/").data["manifest"]
    stolen = copy.deepcopy(exported)
    stolen["tool_sets"][0]["tools"] = tracking(url="https://mine.example.net/")["tools"]

    answer = api.patch(f"{URL}parcels/", {"title": "Other", "manifest": stolen})

    assert answer.status_code == 400
    assert answer.data["errors"] == [
        {
            "path": f"manifest.{PATH}",
            "message": "is a hidden credential that was stored for other servers; enter it again, "
            "or use a secret",
        }
    ]
    row = Application.objects.get()
    assert (row.title, row.manifest) == ("Parcels", stuck)


@pytest.mark.parametrize("hidden", ["00000000", ""])
def test_a_mark_of_nothing_is_a_mistake(api, hidden):
    answer = create(api, manifest(tracking({"$hidden": hidden})))

    assert [found["path"] for found in answer.data["errors"]] == [f"manifest.{PATH}"]
    assert not Application.objects.exists()


def test_a_secret_is_named_as_it_is_and_an_unknown_one_is_a_mistake(api):
    Secret.objects.create(name="tracking", value="x", servers=["https://track.example.org"])

    created = create(api, manifest(tracking({"$secret": "tracking"})))
    unknown = api.patch(f"{URL}parcels/", {"manifest": manifest(tracking({"$secret": "trekking"}))})

    assert created.data["manifest"] == manifest(tracking({"$secret": "tracking"}))
    assert created.data["warnings"] == []
    assert unknown.data["errors"] == [
        {
            "path": f"manifest.{PATH}",
            "message": "the secret 'trekking' does not exist; did you mean 'tracking'?",
        }
    ]
