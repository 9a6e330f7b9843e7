"""The user behind every kind of request is recorded when something changes."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from django.test import AsyncClient, Client
from rest_framework.test import APIClient

from apps.catalog.actions import archive
from apps.catalog.models import Change, OperatorKey, empty_manifest
from tests.catalog.rows import make_application, make_deployment, make_operator, manifest_with

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def last() -> tuple[Any, ...]:
    found = Change.objects.values_list("actor", "via", "through", "what").first()
    assert found is not None
    return found


def test_a_script_is_known_by_its_key():
    _, key = OperatorKey.objects.create_key(name="nightly", user=make_operator("anna"))
    make_deployment("demo-model")
    api = APIClient(headers={"Authorization": f"Bearer {key}"})

    made = api.post("/api/applications/", {"slug": "a", "title": "A", "manifest": empty_manifest()})
    assert (made.status_code, last()) == (201, ("anna", "api", "operator key nightly", "created"))
    api.delete("/api/applications/a/")
    assert last() == ("anna", "api", "operator key nightly", "changed")
    api.post("/api/applications/a/erase/")

    assert last() == ("anna", "api", "operator key nightly", "deleted")


def test_the_framed_editor_is_told_from_the_admin():
    make_deployment("demo-model")
    row = make_application()
    client = Client()
    client.force_login(make_operator("anna"))

    sent = {"manifest": json.dumps(manifest_with(odd=1)), "seen_version": "1"}
    saved = client.post(f"/dial/editor/?id={row.slug}", sent)

    assert (saved.status_code, last()) == (200, ("anna", "editor", "", "changed"))


async def test_the_server_answers_asynchronously_and_knows_all_the_same():
    from asgiref.sync import sync_to_async

    user = await sync_to_async(make_operator)("anna")
    row = await sync_to_async(make_application)()
    await sync_to_async(archive.execute)(row)
    client = AsyncClient()
    await client.aforce_login(user)

    await client.post(f"/admin/catalog/application/{row.pk}/delete/", {"post": "yes"})

    assert await sync_to_async(last)() == ("anna", "admin", "", "deleted")
    await sync_to_async(make_application)("later")
    assert (await sync_to_async(last)())[0] == ""


@pytest.mark.parametrize(
    ("arguments", "via", "through"),
    [
        (["/srv/manage.py", "shell"], "command", "manage.py shell"),
        (["/srv/bin/daphne", "site"], "server", ""),
        (["manage.py"], "server", ""),
    ],
)
def test_a_command_is_named(monkeypatch, arguments, via, through):
    monkeypatch.setattr(sys, "argv", arguments)

    make_application()

    assert last() == ("", via, through, "created")
