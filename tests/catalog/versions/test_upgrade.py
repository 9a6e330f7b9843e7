"""A database from before there were versions: every application goes on as its version 1."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from apps.accounts.caller import Caller
from apps.accounts.key_holders import read_holder
from apps.accounts.models import ApiKey
from apps.catalog.access import usable
from apps.catalog.models import Application
from apps.catalog.resolve import forget, resolve
from apps.catalog.versions.upgrade import forget_upgrade, numbers_are_versions_since
from apps.chat.models import Conversation
from apps.errors import ApplicationBroken, ApplicationNotFound
from apps.insights.models import ModelCall
from tests.catalog.rows import make_deployment, manifest_with

pytestmark = pytest.mark.django_db(transaction=True)

BEFORE = [("catalog", "0010_agent_items")]
CONVERSATION = UUID(int=7)
SAVED = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
APPLICATIONS: dict[str, dict[str, Any]] = {
    "travel": {"description": "By bus"},
    "broken": {"manifest": {"orchestrator": 5, "contexts": "none"}},
    "no-object": {"manifest": ["a list"]},
    "disabled": {"is_enabled": False},
    "predefined": {"imported_hash": "5" * 64},
    "with-credential": {
        "manifest": manifest_with(
            tool_sets=[
                {
                    "type": "mcp",
                    "name": "files",
                    "mcp_server_info": {"url": "https://a.example", "headers": {"x-key": "k1"}},
                }
            ]
        )
    },
}


def migrate(targets: list[tuple[str, str]] | None = None) -> Any:
    """The models of all apps as they are then. Without targets, to the newest."""
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes() if targets is None else targets)
    loader = MigrationExecutor(connection).loader
    return loader.project_state([*loader.applied_migrations]).apps


@pytest.fixture
def then() -> Iterator[Any]:
    yield migrate(BEFORE)
    migrate()
    forget_upgrade()


def fill(apps: Any) -> str:
    """Applications, a conversation, usage and a key; the key as it was shown."""
    rows = apps.get_model("catalog", "Application").objects
    for slug, fields in APPLICATIONS.items():
        given = {"slug": slug, "title": slug.title(), "manifest": manifest_with(), "version": 17}
        rows.create(**given | fields)
    rows.update(updated_at=SAVED)
    travel = rows.get(slug="travel")
    apps.get_model("chat", "Conversation").objects.create(
        id=CONVERSATION, application=travel, owner="user-1", title="Rome"
    )
    apps.get_model("insights", "ModelCall").objects.create(
        application="travel", version=17, iteration=1, started_at=SAVED
    )
    key, prefix, hashed = ApiKey.objects.key_generator.generate()
    made = apps.get_model("accounts", "ApiKey").objects.create(
        id=f"{prefix}.{hashed}", prefix=prefix, hashed_key=hashed, name="program"
    )
    made.applications.set([travel])
    return str(key)


def test_every_application_becomes_version_1_answers_as_before_and_finds_the_way_back(then):
    """One test, because each way through the migrations takes seconds."""
    key = fill(then)
    assert list(ModelCall.objects.values_list("version", flat=True)) == [17]

    migrate()
    forget_upgrade()

    check_that_nothing_is_lost(key)
    check_that_numbers_of_calls_from_before_are_not_called_versions()
    make_deployment()
    check_that_they_answer_as_before()
    back = migrate(BEFORE)
    rows = back.get_model("catalog", "Application").objects
    assert sorted(rows.values_list("slug", flat=True)) == sorted(APPLICATIONS)
    assert rows.get(slug="travel").manifest == manifest_with()


def check_that_nothing_is_lost(key: str) -> None:
    rows = {row.slug: row for row in Application.objects.all()}
    assert sorted(rows) == sorted(APPLICATIONS)
    for slug, row in rows.items():
        given = APPLICATIONS[slug]
        (version,) = row.versions.all()
        assert row.manifest == given.get("manifest", manifest_with())
        assert (version.number, version.document, version.title, version.description) == (
            1,
            row.manifest,
            slug.title(),
            given.get("description", ""),
        )
        assert (version.published_at, version.snapshot, version.author) == (SAVED, None, None)
        assert (row.live_number, row.version, row.archived_at) == (1, 17, None)
        assert (row.is_enabled, row.imported_hash) == (
            given.get("is_enabled", True),
            given.get("imported_hash", ""),
        )
    holder = read_holder(key)
    assert holder is not None
    allowed = usable(Caller(f"key-{holder.prefix}", "key", **holder.limits))
    assert [row.slug for row in allowed] == ["travel"]
    kept = Conversation.objects.get(pk=CONVERSATION)
    assert (kept.application, kept.pinned_version) == (rows["travel"], None)


def check_that_they_answer_as_before() -> None:
    forget()
    find = async_to_sync(resolve)

    travel, by_number = find("travel"), find("travel@1")

    assert (travel.number, by_number.number) == (1, 1)
    assert travel.document == by_number.document == manifest_with()
    assert find("predefined").number == 1
    for slug in ("broken", "no-object"):
        with pytest.raises(ApplicationBroken):
            find(slug)
    with pytest.raises(ApplicationNotFound):
        find("disabled")


def check_that_numbers_of_calls_from_before_are_not_called_versions() -> None:
    since = numbers_are_versions_since()

    assert since is not None
    assert since > ModelCall.objects.get().started_at
