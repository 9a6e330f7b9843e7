"""Manifests under `/api/`: credentials go in, and come out as marks that can be sent back."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.catalog.models import Application
from apps.workspace.local.models import Secret
from tests.catalog.rows import make_deployment, make_operator
from tests.console.admin.test_moving import MARK, PATH, manifest, tracking

URL = "/api/applications/"

pytestmark = pytest.mark.django_db


@pytest.fixture
def api() -> APIClient:
    client = APIClient()
    client.force_login(make_operator())
    make_deployment("demo-model")
    return client


def create(api: APIClient, document: Any) -> Any:
    return api.post(URL, {"slug": "parcels", "title": "Parcels", "manifest": document})


def test_what_is_exported_has_marks_and_can_be_sent_back(api):
    created = create(api, manifest(tracking()))
    exported = api.get(f"{URL}parcels/").data["manifest"]
    exported["orchestrator"]["max_iterations"] = 3

    changed = api.patch(f"{URL}parcels/", {"manifest": exported})

    assert changed.status_code == 200
    for answer in (created, changed):
        assert MARK not in json.dumps(answer.data, default=str)
    row = Application.objects.get()
    assert row.manifest["tool_sets"] == [tracking()]
    assert row.manifest["orchestrator"]["max_iterations"] == 3


def test_a_mark_is_not_sent_back_for_another_server(api):
    create(api, manifest(tracking()))
    exported = api.get(f"{URL}parcels/").data["manifest"]
    stolen = copy.deepcopy(exported)
    method = stolen["tool_sets"][0]["tools"][0]["rest_api_method_info"]
    method["method_url"] = "https://mine.example.net/"

    answer = api.patch(f"{URL}parcels/", {"title": "Other", "manifest": stolen})

    assert answer.status_code == 400
    assert answer.data["errors"] == [
        {
            "path": f"manifest.{PATH}",
            "message": "is a hidden credential that was stored for other servers; type it again, "
            "or name a secret",
        }
    ]
    row = Application.objects.get()
    assert (row.title, row.manifest) == ("Parcels", manifest(tracking()))


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
            "message": "there is no secret 'trekking'; did you mean 'tracking'?",
        }
    ]


def test_a_plain_credential_is_a_warning(api):
    created = create(api, manifest(tracking()))

    assert [found["path"] for found in created.data["warnings"]] == [f"manifest.{PATH}"]
