"""The migration that makes secrets of the plain credentials in rows."""

from __future__ import annotations

import importlib
import json
from functools import cache
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from apps.catalog.extraction import revealed
from apps.catalog.models import Application, Change, ContentItem, empty_manifest
from apps.workspace.local.models import Deployment, Secret
from apps.workspace.local.secrets import SecretField, UnreadableSecret
from tests.catalog.rows import secrets
from tests.console.admin.test_document_form import MARK, OTHER, PATH, tracking

migration = importlib.import_module("apps.catalog.migrations.0005_secrets_by_reference")

SERVERS = ["https://track.example.org"]
NAMED = tracking({"$secret": "tracking-key"})
STUCK = {**tracking(), "tools": []}


def manifest(*toolsets: Any) -> dict[str, Any]:
    return {**empty_manifest(), "tool_sets": list(toolsets)}


def make(slug: str, *toolsets: Any) -> Application:
    return Application.objects.create(slug=slug, title=slug, manifest=manifest(*toolsets))


def make_item(name: str, document: Any, kind: str = "toolset") -> ContentItem:
    return ContentItem.objects.create(kind=kind, name=name, text=json.dumps(document))


@cache
def models_of_then() -> Any:
    loader = MigrationExecutor(connection).loader
    return loader.project_state([("catalog", "0004_change"), ("workspace", "0005_secret")]).apps


def move() -> None:
    migration.move_credentials(models_of_then(), None)


def manifests() -> dict[str, Any]:
    return dict(Application.objects.values_list("slug", "manifest"))


@pytest.mark.django_db
class TestMove:
    def test_each_plain_credential_becomes_a_secret_for_its_servers(self):
        make("parcels", tracking(), {**tracking(OTHER, "https://b.example.org/"), "name": "b"})
        item = make_item("lent", {**tracking("sk-lent"), "name": "lent"})

        move()

        assert secrets() == [
            ("b-key", OTHER, ["https://b.example.org"]),
            ("lent-key", "sk-lent", SERVERS),
            ("tracking-key", MARK, SERVERS),
        ]
        other = {**tracking({"$secret": "b-key"}, "https://b.example.org/"), "name": "b"}
        assert manifests() == {"parcels": manifest(NAMED, other)}
        item.refresh_from_db()
        assert json.loads(item.text) == {**tracking({"$secret": "lent-key"}), "name": "lent"}

    def test_equal_credentials_of_a_row_make_one_secret_and_those_of_two_rows_two(self):
        make("one", tracking(), {**tracking(), "name": "again"})
        make("two", tracking())

        move()

        assert [name for name, *_ in secrets()] == ["tracking-key", "tracking-key-2"]
        assert manifests() == {
            "one": manifest(NAMED, {**NAMED, "name": "again"}),
            "two": manifest(tracking({"$secret": "tracking-key-2"})),
        }

    def test_what_rows_say_and_their_versions_stay(self):
        row = make("parcels", tracking())
        before = (row.version, row.updated_at)

        move()

        row.refresh_from_db()
        assert (row.version, row.updated_at) == before
        assert revealed(row.manifest) == manifest(tracking())

    def test_a_second_run_changes_nothing(self, capsys):
        make("parcels", tracking(), {**STUCK, "name": "stuck"})
        move()
        first = (secrets(), manifests(), list(Change.objects.values()))
        capsys.readouterr()

        move()

        assert (secrets(), manifests(), list(Change.objects.values())) == first
        assert "stays in the row" in capsys.readouterr().out

    def test_what_was_moved_and_what_stays_is_told_without_a_value(self, capsys):
        broken = make("broken", tracking())
        Application.objects.filter(pk=broken.pk).update(
            manifest={**manifest(tracking()), "contexts": 5}
        )
        make("odd", STUCK, {**tracking(5), "name": "number"})
        make("parcels", tracking())
        override = {"tools": tracking(url="https://mine.example.net/")["tools"]}
        make("turned", {"type": "predefined", "template_name": "lent", "override": override})
        make_item("lent", {**tracking(), "name": "lent"})
        make_item("x", {"authorization": {"token": MARK}, "mistake": [1] * 3}, kind="tool")
        before = manifests()

        move()

        assert capsys.readouterr().out.splitlines() == [
            "",
            "  Plain credentials:",
            f"    application broken: {PATH}: the manifest has mistakes. It stays in the row, hidden.",
            f"    application odd: {PATH}: the document does not say which server it is sent to. It "
            "stays in the row, hidden.",
            "    application odd: tool_sets[1].authorization.key: only a text can be a secret. It "
            "stays in the row, hidden.",
            f"    application parcels: {PATH} is the secret 'tracking-key', for "
            "https://track.example.org.",
            "    contentitem lent: authorization.key: what refers to this item gives it another "
            "address. It stays in the row, hidden.",
            "    contentitem x: authorization.token: the document does not say which server it is "
            "sent to. It stays in the row, hidden.",
        ]
        assert manifests() == {**before, "parcels": manifest(NAMED)}

    def test_marks_in_the_history_become_the_name_of_the_secret(self):
        row = make("parcels", tracking())
        row.title = "Later"
        row.save()
        item = make_item("lent", {**tracking("sk-lent"), "name": "lent"})

        move()

        changes = Change.objects.filter(kind="catalog.application").order_by("pk")
        states = [state for change in changes for state in (change.before, change.after)]
        assert [state and state["manifest"] for state in states] == [None, *[manifest(NAMED)] * 3]
        item.refresh_from_db()
        kept = Change.objects.get(kind="catalog.contentitem").after
        assert kept is not None
        assert kept["text"] == item.text
        said = str(list(Change.objects.values()))
        assert (MARK in said, "sk-lent" in said) == (False, False)

    def test_the_history_of_the_secret_says_where_it_came_from(self):
        make("parcels", tracking())

        move()

        change = Change.objects.get(kind="workspace.secret")
        assert (change.title, change.what, change.via, change.reason) == (
            "tracking-key",
            "created",
            "server",
            "Moved out of application parcels.",
        )
        assert change.after is not None
        assert (change.object_id, change.after["servers"]) == (Secret.objects.get().pk, SERVERS)

    def test_a_wrong_key_is_no_matter_where_there_is_nothing_to_move(self):
        Secret.objects.create(name="tracking-key", value=UNREADABLE, servers=SERVERS)
        make("parcels", NAMED)

        move()

        assert manifests() == {"parcels": manifest(NAMED)}


UNREADABLE = UnreadableSecret.of("of-another-installation")


@pytest.mark.django_db(transaction=True)
def test_where_no_key_fits_what_is_stored_the_migration_stops_and_changes_nothing(capsys):
    deployment = Deployment.objects.create(
        deployment_id="gpt", display_name="GPT", api_key=UNREADABLE
    )
    make("one", STUCK)
    make("two", tracking())
    before = (manifests(), list(Change.objects.values()))
    executor().migrate([("catalog", "0004_change")])

    with pytest.raises(migration.CannotMove) as stopped:
        migrate()

    assert str(stopped.value) == (
        "SECRET_KEY and SALT_KEY do not fit what is stored: the key of the deployment gpt cannot be "
        "decrypted. Nothing was changed. Set the SECRET_KEY that this database was used with (or "
        "add it to SECRET_KEY_FALLBACKS), and migrate again."
    )
    assert (secrets(), (manifests(), list(Change.objects.values()))) == ([], before)

    deployment.api_key = "sk-model"
    deployment.save()
    migrate()

    assert manifests() == {"one": manifest(STUCK), "two": manifest(NAMED)}
    assert secrets() == [("tracking-key", MARK, SERVERS)]
    assert MARK not in capsys.readouterr().out


@pytest.mark.django_db(transaction=True)
def test_a_secret_that_cannot_be_read_back_leaves_all_as_it_was(monkeypatch):
    make("one", tracking())
    make("two", {**tracking(OTHER), "name": "zebra"})
    before = manifests()
    executor().migrate([("catalog", "0004_change")])
    decrypted = SecretField.from_db_value

    def fail_other(self: Any, value: Any, *more: Any) -> Any:
        found = decrypted(self, value, *more)
        return "" if found == OTHER else found

    with monkeypatch.context() as patch:
        patch.setattr(SecretField, "from_db_value", fail_other)
        with pytest.raises(migration.CannotMove, match="'zebra-key' cannot be read back"):
            migrate()
    found = (manifests(), secrets())
    migrate()

    assert found == (before, [])


def migrate() -> None:
    """To the newest, also those of other rooms that went back with it."""
    executor().migrate(executor().loader.graph.leaf_nodes())


def executor() -> MigrationExecutor:
    """A new one for each way: it remembers what was applied."""
    return MigrationExecutor(connection)
