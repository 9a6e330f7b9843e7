"""Migrations must not block writes to tables that are large after some years."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.postgres.operations import (
    AddConstraintNotValid,
    AddIndexConcurrently,
    NotInTransactionMixin,
)
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from apps.concurrent_indexes import AddIndexWithoutBlocking

LARGE = {
    "chat_conversation",
    "chat_message",
    "accounts_auditentry",
    "insights_modelcall",
    "insights_tooluse",
    "notes_note",
    "notes_noteversion",
    "runs_interaction",
    "runs_journalentry",
    "runs_run",
    "runs_runstep",
    "runs_runsummary",
    "runs_sentpart",
    "runs_sentrequestrow",
    "workspace_chunkterms",
    "workspace_corpuschunk",
    "workspace_storedfile",
    "workspace_storedmemory",
}
OLD = {("insights", "0002_budget_cascades")}
"""Migrations that are older than this test, whose statements use no large table."""
BUILDS_INDEX = re.compile(r"create\s+(unique\s+)?index(?!\s+concurrently)", re.IGNORECASE)
REWRITES = re.compile(
    r"alter\s+column\s+\S+\s+(set\s+data\s+)?type|generated\s+always|set\s+not\s+null",
    re.IGNORECASE,
)


def blocking(
    key: tuple[str, str], migration: migrations.Migration, state: ProjectState
) -> Iterator[str]:
    """Describe the blocking operations. `state` becomes the state after the migration."""
    made: set[str] = set()
    for operation in migration.operations:
        before = state.clone()
        for inner in database_operations(operation):
            if isinstance(inner, migrations.CreateModel):
                made.add(inner.options.get("db_table") or f"{key[0]}_{inner.name_lower}")
            elif table := table_of(key[0], inner, before):
                if table in LARGE - made and (problem := problem_of(key[0], inner, before)):
                    yield f"{key[0]}.{key[1]}: {problem} on {table}"
            elif not made and (problem := problem_of_code(inner)):
                yield f"{key[0]}.{key[1]}: {problem}"
            if isinstance(inner, NotInTransactionMixin) and migration.atomic:
                yield f"{key[0]}.{key[1]}: needs atomic = False"
        operation.state_forwards(key[0], state)


def database_operations(operation: Operation) -> list[Any]:
    if isinstance(operation, migrations.SeparateDatabaseAndState):
        return [*operation.database_operations]
    return [operation]


def table_of(app: str, operation: Any, state: ProjectState) -> str:
    name = getattr(operation, "model_name", "")
    model = state.models.get((app, name.lower())) if name else None
    if model is None:
        return ""
    return str(model.options.get("db_table") or f"{app}_{name.lower()}")


def problem_of(app: str, operation: Any, state: ProjectState) -> str:
    match operation:
        case AddIndexConcurrently() | AddConstraintNotValid():
            return ""
        case migrations.AddIndex():
            return "AddIndex builds an index under a lock; use AddIndexWithoutBlocking"
        case migrations.AddConstraint():
            return "AddConstraint reads the whole table under a lock; add it NOT VALID first"
        case migrations.AddField(field=field):
            return problem_of_column(field)
        case migrations.AlterField(name=name, field=field):
            old = state.models[app, operation.model_name_lower].fields[name]
            return problem_of_change(old, field)
        case migrations.AlterUniqueTogether() | migrations.AlterOrderWithRespectTo():
            return f"{type(operation).__name__} builds an index under a lock"
        case _:
            return ""


def problem_of_column(field: Any) -> str:
    if isinstance(field, models.ManyToManyField):
        return ""
    if isinstance(field, models.GeneratedField):
        return "a generated column rewrites the table"
    if field.db_index or field.unique:
        return "the column's index is built under a lock; add it with AddIndexWithoutBlocking"
    if not field.null and not field.has_db_default():
        return "processes of the version before cannot insert into the column; give it a db_default"
    return ""


def problem_of_change(old: Any, new: Any) -> str:
    if old.get_internal_type() != new.get_internal_type():
        return "a change of type rewrites the table"
    if (new.max_length or 0) < (old.max_length or 0):
        return "a shorter column is checked for all rows under a lock"
    if old.null and not new.null:
        return "NOT NULL is checked for all rows under a lock"
    if (new.db_index or new.unique) and not (old.db_index or old.unique):
        return "the column's index is built under a lock"
    return ""


def problem_of_code(operation: Any) -> str:
    match operation:
        case migrations.RunSQL(sql=sql):
            text = str(sql)
        case migrations.RunPython(code=code):
            text = source_of(code)
        case _:
            return ""
    if BUILDS_INDEX.search(text):
        return "CREATE INDEX without CONCURRENTLY"
    return "a statement that rewrites a table" if REWRITES.search(text) else ""


def source_of(code: Any) -> str:
    """Return the source of a function. For a function of a migration, return the whole module,
    whose constants have the statements."""
    code = inspect.unwrap(getattr(code, "func", code))
    is_of_migration = ".migrations." in code.__module__
    return inspect.getsource(sys.modules[code.__module__] if is_of_migration else code)


def test_no_migration_blocks_a_large_table():
    loader = MigrationLoader(None)
    state, found, seen = ProjectState(), [], set()
    for target in sorted(loader.graph.leaf_nodes()):
        for key in loader.graph.forwards_plan(target):
            if key in seen:
                continue
            seen.add(key)
            migration = loader.graph.nodes[key]
            problems = list(blocking(key, migration, state))
            if migration.__module__.startswith("apps.") and key not in OLD:
                found += problems

    assert found == []
    assert set(connection.introspection.django_table_names()) >= LARGE, "a large table was renamed"


def run(apps: Any, schema_editor: Any) -> None:
    schema_editor.execute("CREATE INDEX words ON chat_message (text)")


ADDED = models.Index(fields=("owner",), name="added")
BLOCKING: list[tuple[Any, str]] = [
    (migrations.AddIndex("Conversation", ADDED), "AddIndex"),
    (
        migrations.AddConstraint(
            "Conversation", models.CheckConstraint(condition=models.Q(title=""), name="empty")
        ),
        "NOT VALID",
    ),
    (migrations.AddField("Conversation", "x", models.TextField(db_index=True, null=True)), "index"),
    (migrations.AddField("Conversation", "x", models.TextField(default="")), "db_default"),
    (migrations.AlterField("Conversation", "title", models.TextField()), "type"),
    (migrations.AlterField("Conversation", "title", models.CharField(max_length=9)), "shorter"),
    (migrations.RunSQL("CREATE UNIQUE INDEX x ON chat_message (text)"), "CONCURRENTLY"),
    (migrations.RunSQL("ALTER TABLE chat_message ALTER COLUMN text TYPE varchar"), "rewrites"),
    (migrations.RunPython(run), "CONCURRENTLY"),
]
HARMLESS: list[Any] = [
    AddIndexWithoutBlocking("Conversation", ADDED),
    migrations.AddField("Conversation", "x", models.TextField(null=True)),
    migrations.AddField("Conversation", "x", models.TextField(db_default="")),
    migrations.AlterField("Conversation", "title", models.CharField(max_length=300, blank=True)),
    migrations.RunSQL("CREATE INDEX CONCURRENTLY x ON chat_message (text)"),
]


def problems_of(operation: Any, *, atomic: bool) -> list[str]:
    loader = MigrationLoader(None)
    made = type("Migration", (migrations.Migration,), {"operations": [operation], "atomic": atomic})
    migration = made("0099_made", "conversations")
    state = loader.project_state([("conversations", "0001_moved_from_chat")])
    return list(blocking(("conversations", "0099_made"), migration, state))


@pytest.mark.parametrize(("operation", "told"), BLOCKING)
def test_an_operation_that_blocks_is_refused(operation: Any, told: str):
    [problem] = problems_of(operation, atomic=False)

    assert told in problem


def test_an_operation_that_does_not_block_is_let_through():
    assert [problems_of(operation, atomic=False) for operation in HARMLESS] == [[]] * len(HARMLESS)


def test_an_index_is_not_built_without_a_lock_in_a_transaction():
    assert problems_of(HARMLESS[0], atomic=True) == [
        "conversations.0099_made: needs atomic = False"
    ]
