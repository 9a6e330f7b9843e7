"""This version serves a database that a newer one has expanded, so an upgrade can be rolled back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations import operations
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from apps.migration_history import CONTRACT, upgrade_problem
from quickapps_site.startup import preparation
from tests.databases.postgresql import address_of, database
from tests.services import absence
from tests.site.migrations.previous_version import (
    NO_HISTORY,
    previous_commit,
    previous_site,
    serving_previous,
    unpack_previous,
)
from tests.sites.serving import new_site, running
from tests.sites.websocket import PageSocket, visitor_cookie

CONTRACTED = (
    "This database was migrated by a newer version of QuickApps (runs.9999_steps_contract), whose tables "
    "this version cannot use. Update this installation, or restore a backup that was made before the "
    "upgrade."
)
EXPANSION = """
ALTER TABLE runs_run ADD COLUMN newer text NULL;
ALTER TABLE runs_runstep ADD COLUMN newer integer NOT NULL DEFAULT 7;
ALTER TABLE runs_journalentry ADD COLUMN newer jsonb NULL;
ALTER TABLE runs_runsummary ADD COLUMN newer text NOT NULL DEFAULT '';
ALTER TABLE chat_message ADD COLUMN newer text NULL;
ALTER TABLE chat_conversation ADD COLUMN newer text NULL;
CREATE TABLE runs_newer (id bigserial PRIMARY KEY, run uuid NOT NULL);
INSERT INTO django_migrations (app, name, applied) VALUES ('runs', '9998_newer', now());
"""
"""Operations that migrations of a newer version may contain while this one serves."""


@pytest.fixture
def contracted(db: None) -> None:
    MigrationRecorder(connection).record_applied("runs", "9999_steps_contract")


@pytest.mark.postgres
def test_a_database_that_a_newer_version_has_contracted_is_refused(contracted: None):
    before = MigrationRecorder(connection).applied_migrations().keys()

    with pytest.raises(CommandError) as refused:
        preparation.prepare()

    assert str(refused.value) == upgrade_problem(connection) == CONTRACTED
    assert MigrationRecorder(connection).applied_migrations().keys() == before


REMOVALS = (
    operations.RemoveField,
    operations.DeleteModel,
    operations.RenameField,
    operations.RenameModel,
    operations.AlterModelTable,
)
BEFORE = {"triggers.0002_drop_attempts_of_mail"}
"""The state of version 0.1.0, which has no contracts."""


def changes(made: Iterable[Any]) -> Iterator[Any]:
    """Yield the operations that change the database."""
    for operation in made:
        yield operation
        yield from changes(getattr(operation, "database_operations", ()))


def test_only_contracts_remove_what_the_version_before_uses():
    removing = {
        f"{app}.{name}"
        for (app, name), migration in MigrationLoader(None).disk_migrations.items()
        if migration.__module__.startswith("apps.")
        and any(isinstance(one, REMOVALS) for one in changes(migration.operations))
    }

    assert {name for name in removing if not name.endswith(CONTRACT)} == BEFORE


@pytest.mark.django_db
@pytest.mark.postgres
def test_a_database_that_a_newer_version_has_expanded_is_used():
    MigrationRecorder(connection).record_applied("runs", "9998_newer")

    call_command("migrate", "--check", "--verbosity", "0")

    assert upgrade_problem(connection) == ""


@pytest.mark.slow("serves two processes on PostgreSQL")
@pytest.mark.skipif(absence("postgres") != "", reason=absence("postgres"))
def test_answers_go_on_while_a_newer_version_expands_the_database(tmp_path: Path):
    with database() as name:
        address = address_of(name)
        for folder in ("old", "again"):
            (tmp_path / folder).mkdir()
        shared = {"DATABASE_URL": address, "SECRET_KEY": "a key of tests that is shared by both"}
        old = new_site(tmp_path / "old", **shared)
        with running(old, arguments=["--prepare"]):
            cookie = visitor_cookie(old.url, "demo")
            page = PageSocket(old.url, "demo", cookie)
            conversation = page.ask("Tell me about the slow clouds, " + "please, " * 200)
            page.until("message.delta")  # the stream is open
            with psycopg.connect(address, autocommit=True) as newer:
                newer.execute(EXPANSION)
            page.until("run.status", status="done")
            page.ask("Another question, after the expansion")
            page.until("run.status", status="done")
            page.close()

        again = new_site(
            tmp_path / "again", **shared, DATA_DIR=old.environment["DATA_DIR"]
        )  # rolled back
        with running(again, arguments=["--prepare"]):
            ready = json.load(urlopen(f"{again.url}/readyz", timeout=60))
            page = PageSocket(again.url, "demo", cookie)
            page.open(conversation)
            replayed = page.until("run.status", status="done")
            page.ask("A question after the rollback")
            page.until("run.status", status="done")
            page.close()
            statuses = again.shell(
                "from apps.live.models import Run\n"
                "result = sorted(Run.objects.values_list('status', flat=True))"
            )

    assert ready == {"status": "ok"}
    assert any(frame["type"] == "message.complete" for frame in replayed)
    assert statuses == ["done", "done", "done"]


ASKED = "Tell me about the slow clouds, " + "please, " * 400
STATUSES = """
from apps.live.models import Run
result = sorted(Run.objects.values_list("status", flat=True))
"""


@pytest.mark.slow("serves four processes on PostgreSQL")
@pytest.mark.skipif(absence("postgres") != "", reason=absence("postgres"))
@pytest.mark.skipif(previous_commit() == "", reason=NO_HISTORY)
def test_the_previous_version_and_this_one_serve_side_by_side(tmp_path: Path):
    """The upgrade and the rollback of docs/upgrading.md, with answers and streams open throughout."""
    source = unpack_previous(tmp_path)
    with database() as name, ExitStack() as stack:
        shared = {
            "DATABASE_URL": address_of(name),
            "SECRET_KEY": "a key of tests that is shared by all",
            "DATA_DIR": str(tmp_path),
        }
        folders = [tmp_path / one for one in ("old", "new", "again")]
        for folder in folders:
            folder.mkdir()
        old = previous_site(folders[0], source, **shared)
        with serving_previous(old, source):
            cookie = visitor_cookie(old.url, "demo")
            page = stack.enter_context(closing(PageSocket(old.url, "demo", cookie)))
            conversation = page.ask(ASKED)
            page.until("message.delta")  # the stream is open while the newer version migrates
            new = new_site(folders[1], **shared)
            stack.enter_context(running(new, arguments=["--prepare"]))
            page.until("run.status", status="done")

            # Each shows the answers of the other one.
            tab = stack.enter_context(closing(PageSocket(new.url, "demo", cookie)))
            tab.open(conversation)
            [*_, shown] = tab.until("run.status", status="done")
            other = stack.enter_context(closing(PageSocket(new.url, "demo", cookie)))
            answered = other.ask("A question to the new version")
            other.until("run.status", status="done")
            page.open(answered)
            page.until("run.status", status="done")

            interrupted = page.ask(ASKED)
            page.until("message.delta")
        # The old process stopped during the answer, and the new one continues it.
        tab.open(interrupted)
        tab.until("run.status", status="done")
        statuses = new.shell(STATUSES)

        again = previous_site(folders[2], source, **shared)
        with serving_previous(again, source):  # rolled back, next to the new version
            page = stack.enter_context(closing(PageSocket(again.url, "demo", cookie)))
            page.open(interrupted)
            page.until("run.status", status="done")
            page.ask("A question after the rollback")
            page.until("run.status", status="done")
            ready = json.load(urlopen(f"{again.url}/readyz", timeout=60))

    assert shown["status"] == "done"
    assert statuses == ["done"] * 3
    assert ready == {"status": "ok"}
