"""Defines a migration operation that adds an index to a large table without blocking writes."""

from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db.migrations import AddIndex


class AddIndexWithoutBlocking(AddIndexConcurrently):
    """Adds an index like `AddIndex`, without blocking writes on PostgreSQL. The migration needs
    `atomic = False`.

    If an earlier build was interrupted, PostgreSQL marks its index as invalid, and this operation
    rebuilds it.
    """

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        if schema_editor.connection.vendor != "postgresql":
            AddIndex.database_forwards(self, app_label, schema_editor, from_state, to_state)
            return
        drop_index(schema_editor, self.index.name)
        super().database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        if schema_editor.connection.vendor == "postgresql":
            super().database_backwards(app_label, schema_editor, from_state, to_state)
        else:
            AddIndex.database_backwards(self, app_label, schema_editor, from_state, to_state)


def drop_index(schema_editor: Any, name: str) -> None:
    quoted = schema_editor.quote_name(name)
    schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {quoted}", params=None)
