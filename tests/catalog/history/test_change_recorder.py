from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.db import IntegrityError

from apps.catalog.history.actors import Actor, ChangeNote, acting, noting
from apps.catalog.history.change_recorder import update_rows
from apps.catalog.history.models import Change
from apps.catalog.history.recorded_models import BY_SENDER, KINDS, row_kind
from apps.catalog.models import Application, ContentItem
from apps.workspace.local.files import files
from apps.workspace.local.models import Deployment, McpServer, StoredFile
from tests.catalog.rows import make_application, make_deployment, make_operator, manifest_with

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

KEY = "sk-never-to-be-seen-again"


def last() -> Any:
    change = Change.objects.first()
    assert change is not None
    return change


def told(change: Change) -> dict[str, Any]:
    names = ("kind", "object_id", "title", "version", "what", "count", "places")
    return {name: getattr(change, name) for name in names}


def test_apps_declare_kinds_in_addition_to_those_of_the_catalog():
    declared = {kind.label for kind in BY_SENDER.values() if kind not in KINDS}

    assert declared == {
        "cases.case",
        "insights.budget",
        "insights.price",
        "triggers.subscription",
        "triggers.webhook",
    }


def test_a_change_has_what_was_before_and_what_is_after():
    row = make_application(manifest=manifest_with(contexts=[{"type": "url", "url": "a"}]))
    row.title = "Trips"
    row.manifest = manifest_with(contexts=[{"type": "url", "url": "b"}])

    row.save()

    assert told(last()) == {
        "kind": "catalog.application",
        "object_id": row.pk,
        "title": "Trips",
        "version": 2,
        "what": "changed",
        "count": 2,
        "places": ["title", "manifest.contexts[0].url"],
    }
    assert last().before is not None
    assert last().after == {**last().before, "title": "Trips", "manifest": row.manifest}


def test_a_new_row_and_a_deleted_one_are_kept_whole():
    row = make_application(owner=make_operator("anna"))
    number, created = row.pk, last()

    Application.objects.all().delete()

    assert (created.what, created.before, created.after["owner"]) == ("created", None, "anna")
    assert (last().what, last().object_id, last().after) == ("deleted", number, None)
    assert last().before == created.after


def test_saving_what_was_there_is_no_change():
    row = make_application()

    row.save()

    assert [change.what for change in Change.objects.all()] == ["created"]


@pytest.mark.django_db(transaction=True)
def test_a_save_that_fails_leaves_no_history():
    make_application("one")

    with pytest.raises(IntegrityError):
        make_application("one")

    assert Change.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_change_that_cannot_be_recorded_is_not_made(monkeypatch):
    row = make_application("one")
    row.slug = "two"
    monkeypatch.setattr(Change, "save", failing)

    with pytest.raises(RuntimeError):
        row.save()

    assert (Application.objects.get().slug, row.version) == ("one", 1)


def failing(*args: Any, **kwargs: Any) -> None:
    raise RuntimeError("no space left")


def test_an_encrypted_key_is_known_only_to_have_changed():
    row = make_deployment(api_key=KEY)
    row.api_key = KEY + "2"
    row.save()

    change = last()

    assert (change.places, change.count) == (["api_key"], 1)
    assert change.before is not None
    assert set(change.before["api_key"]) == {"$hidden"}
    assert change.before["api_key"] != change.after["api_key"]
    assert KEY not in repr(list(Change.objects.values()))


def test_no_credential_of_a_document_is_kept():
    toolset = {
        "type": "rest-api",
        "name": "Weather",
        "authorization": {"type": "bearer", "token": KEY},
        "tools": [],
    }
    make_application(manifest=manifest_with(tool_sets=[toolset]))
    ContentItem(kind="toolset", name="weather", text=json.dumps(toolset)).save()
    McpServer(name="own", command="serve", environment=json.dumps({"TOKEN": KEY})).save()
    make_deployment(parameters={"api_key": KEY})
    for row in (*Application.objects.all(), *ContentItem.objects.all(), *McpServer.objects.all()):
        row.delete()
    Deployment.objects.all().delete()

    assert Change.objects.count() == 8
    assert KEY not in repr(list(Change.objects.values()))


def test_a_bulk_update_is_recorded_row_by_row():
    on, off = make_application("on"), make_application("off", is_enabled=False)

    changed = update_rows(Application.objects.all(), is_enabled=False)

    assert changed == 1
    assert (last().object_id, last().places, last().version) == (on.pk, ["is_enabled"], 2)
    assert dict(Application.objects.values_list("slug", "version")) == {"on": 2, "off": off.version}


def test_files_that_everybody_may_read_are_recorded_and_those_of_people_are_not():
    files.share("guide.txt", ContentFile(b"one"), "text/plain")
    files.share("guide.txt", ContentFile(b"three"), "text/plain")
    files.delete("public", "files/public/guide.txt")
    assert [change.what for change in Change.objects.all()] == ["deleted", "changed", "created"]
    assert Change.objects.all()[1].places == ["size", "etag"]

    StoredFile.objects.create(
        bucket="anna", name="a", storage_name="x", content_type="t", size=1, etag="e"
    ).delete()

    assert Change.objects.count() == 3


def test_who_did_it_and_why_stands_with_the_change():
    anna = make_operator("anna")

    with (
        acting(Actor(anna, Change.Via.API, "operator key nightly")),
        noting(ChangeNote("Moved a key")),
    ):
        make_application()

    assert (last().user, last().actor, last().reason) == (anna, "anna", "Moved a key")
    assert (last().who, last().how) == ("anna", "the API (operator key nightly)")
    anna.delete()
    assert (last().user, last().actor) == (None, "anna")


def test_what_was_somebodys_is_nobodys_when_the_account_goes():
    anna = make_operator("anna")
    row = make_application(owner=anna)

    with acting(Actor(anna, Change.Via.ADMIN)):
        anna.delete()

    row.refresh_from_db()
    assert (row.owner, row.version, last().version, last().places) == (None, 2, 2, ["owner"])
    assert (last().user, last().how) == (None, "the admin (anna, whose account was deleted)")


def test_an_import_says_so_and_writes_nothing_the_second_time(tmp_path):
    folder = tmp_path / "deployment"
    folder.mkdir()
    (folder / "own.json").write_text('{"display_name": "Own", "provider": "demo"}')

    for _ in range(2):
        call_command("import_content", str(tmp_path), stdout=StringIO())

    [change] = Change.objects.all()
    assert (change.what, change.via, change.through) == ("created", "import", "deployment/own.json")


def test_the_version_grows_in_the_database():
    row, other = make_application(), Application.objects.get()
    row.title, other.title = "One", "Other"

    row.save()
    other.save()

    assert (row.version, other.version) == (2, 3)
    assert Application.objects.get().version == 3
    assert [change.version for change in Change.objects.all()] == [3, 2, 1]


def test_a_snapshot_is_read_in_the_order_of_the_columns_however_it_was_kept():
    kind = row_kind(Application)
    snapshot = kind.snapshot(make_application("travel"))

    kept = dict(sorted(snapshot.items(), reverse=True))

    assert list(kind.readable(kept)) == list(snapshot)
