"""Databases from before the squashed migrations: the newest ones are migrated, older ones refused."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from apps.live.process import health
from apps.migration_history import upgrade_problem
from quickapps_site.startup import preparation
from tests.sites.fork_server import ROOT
from tests.gateway.scripts import get
from tests.sites.serving import DATABASE, Site, close_shell, empty_site, migrated_database

DUMP = ROOT / "tests" / "data" / "last_unsquashed.sql"
"""Written by commit 5aeaeec3 with this secret key, without permissions and content types."""
SECRET_KEY = "tests-only"
TOO_OLD = (
    "This database was last migrated by an older version. Check out commit 5aeaeec3, run "
    "`python manage.py migrate`, then update again."
)
COUNT_ROWS = """
from django.apps import apps
models = apps.get_models(include_auto_created=True)
result = {
    model._meta.db_table: len(list(model._default_manager.all()))
    for model in models if model._meta.managed and not model._meta.proxy
}
"""
MOVED_TYPES = (
    "INSERT INTO django_content_type VALUES (901, 'chat', 'conversation')",
    "INSERT INTO django_content_type VALUES (902, 'chat', 'preferences')",
)
"""Permissions and log entries refer to these rows by their keys."""
TYPES = "SELECT app_label, model FROM django_content_type WHERE id IN (901, 902) ORDER BY id"
READ_ROWS = """
from apps.conversations.models import Conversation, Message
from apps.conversations.search_index import messages_with
from apps.live.journal import journal
from apps.notes.models import Note
from apps.notes.word_index import containing
from apps.workspace.local.models import Secret

conversation = Conversation.objects.get()
result = {
    "conversation": [conversation.title, conversation.application.slug, conversation.folder.name],
    "leaf": conversation.leaf.text,
    "messages": list(conversation.messages.values_list("role", "text")),
    "found": list(Message.objects.filter(pk__in=messages_with("colosseum")).values_list("pk", flat=True)),
    "notes": list(Note.objects.filter(containing("station")).values_list("title", flat=True)),
    "secret": Secret.objects.get().value,
    "version": conversation.application.versions.get().document["orchestrator"],
    "journal": [getattr(event, "text", "") for _, _, event in journal.read(conversation.pk, 0)],
}
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        database.executescript(DUMP.read_text())
    site = empty_site(tmp_path, SECRET_KEY=SECRET_KEY)
    yield site
    close_shell(site)


def query(database: Path, statement: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(database)) as opened:
        return opened.execute(statement).fetchall()


def change(database: Path, *statements: str) -> None:
    with closing(sqlite3.connect(database)) as opened, opened:
        for statement in statements:
            opened.execute(statement)


def columns_of(database: Path) -> dict[str, str]:
    """Return the columns of each model's table."""
    names = [
        name for (name,) in query(database, "SELECT name FROM sqlite_master WHERE type='table'")
    ]
    return {
        name: ", ".join(
            f'"{column}"' for _, column, *_ in query(database, f"PRAGMA table_info({name})")
        )
        for name in names
        if "_words" not in name and not name.startswith("sqlite_")
    }


def rows_of(database: Path, columns: dict[str, str]) -> dict[str, set[tuple[Any, ...]]]:
    return {
        name: {*query(database, f"SELECT {listed} FROM {name}")} for name, listed in columns.items()
    }


def schema_of(database: Path) -> dict[str, Any]:
    """Return the statement behind each table, index and trigger, without the order of columns."""
    made = query(database, "SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {
        name: sorted(re.findall(r"[^\s,()]+", sql)) if kind == "table" else sql
        for name, kind, sql in made
    }


def squashed_in(database: Path) -> list[tuple[str, str]]:
    return query(
        database, "SELECT app, name FROM django_migrations WHERE name LIKE '%squashed' ORDER BY app"
    )


@pytest.mark.slow("starts a site in a process of its own")
def test_the_last_unsquashed_database_keeps_its_rows_and_gets_the_schema_of_a_new_one(
    site: Site, tmp_path: Path
) -> None:
    database, new = tmp_path / DATABASE, migrated_database()
    columns = columns_of(database)
    rows = rows_of(database, columns)
    change(database, *MOVED_TYPES)

    output = site.manage("migrate")

    assert "squashed" not in output  # they are recorded, not run
    assert query(database, TYPES) == [
        ("conversations", "conversation"),
        ("accounts", "preferences"),
    ]
    kept = rows_of(database, columns)
    assert {name for name, found in rows.items() if not found <= kept[name]} == set()
    assert schema_of(database) == schema_of(new)
    assert squashed_in(database) == squashed_in(new) != []
    read = site.shell(COUNT_ROWS)
    assert [name for name in read if read[name] < len(rows.get(name, ()))] == []
    assert site.shell(READ_ROWS) == {
        "conversation": ["Rome", "travel", "Trips"],
        "leaf": "In Rome.",
        "messages": [["user", "Where is the Colosseum?"], ["assistant", "In Rome."]],
        "found": [1],
        "notes": ["Hotels"],
        "secret": "sk-tracking",
        "version": {"deployment": {"deployment_id": "demo-model"}},
        "journal": ["In Rome.", ""],
    }


@pytest.fixture
def older_database() -> None:
    last = MigrationRecorder.Migration.objects.filter(app="chat", name="0022_translated_names")
    assert last.delete()[0] == 1


@pytest.mark.django_db
class TestOlderDatabase:
    def test_a_new_database_is_accepted(self):
        assert upgrade_problem(connection) == ""

    @pytest.mark.usefixtures("older_database")
    @pytest.mark.parametrize(
        "migrate", [partial(call_command, "migrate", skip_checks=False), preparation.prepare]
    )
    def test_migrating_an_older_one_fails_and_names_the_commit_to_pass_through(self, migrate):
        with pytest.raises(CommandError) as refused:
            migrate()

        assert TOO_OLD in str(refused.value)

    @pytest.mark.usefixtures("older_database")
    async def test_a_server_is_not_ready_with_an_older_one(self, monkeypatch):
        monkeypatch.setattr(health, "_applied", False)

        answer = await get("/readyz")

        assert (answer.status, answer.json()["failing"]) == (503, {"migrations": TOO_OLD})
