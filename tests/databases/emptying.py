"""Empty the database quickly after a test that has committed rows.

Django truncates all tables and creates permissions and roles again, which takes PostgreSQL half a
second. Deleting the few rows takes a hundredth of that, and rows that every test needs can stay.
"""

from __future__ import annotations

from typing import Any

from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import TransactionTestCase

from apps.console.installation_roles import keep_groups

KEPT = ("auth_permission", "django_content_type")
"""Tables that `migrate` fills; the models define their contents."""

JOBS = ("procrastinate_events", "procrastinate_periodic_defers", "procrastinate_jobs")
"""Tables of Procrastinate on PostgreSQL, whose models Django does not manage."""


class Emptying:
    """`usual` is Django's own function. It is used if a test has changed rows that should stay."""

    def __init__(self) -> None:
        self.usual = vars(TransactionTestCase)["_fixture_teardown"]
        self.kept: dict[str, list[int]] = {}

    def __call__(self, case: Any) -> None:
        for alias in case._databases_names(include_mirrors=False):
            connection = connections[alias]
            before = self.kept.setdefault(alias, counts(connection))
            if counts(connection) != before:
                del self.kept[alias]
                self.usual(case)
                return
            delete_rows(connection)
            keep_groups(alias)


def counts(connection: BaseDatabaseWrapper) -> list[int]:
    with connection.cursor() as cursor:
        found = []
        for table in KEPT:
            cursor.execute(f"SELECT count(*) FROM {table}")
            found.append(cursor.fetchone()[0])
    return found


def delete_rows(connection: BaseDatabaseWrapper) -> None:
    """Delete rows in any order: foreign keys are checked at the end of the transaction."""
    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    if connection.vendor == "postgresql":
        tables = [*tables, *JOBS]
    with transaction.atomic(connection.alias), connection.cursor() as cursor:
        for table in tables:
            if table not in KEPT:
                cursor.execute(f"DELETE FROM {connection.ops.quote_name(table)}")


def install() -> None:
    """Use this for all tests of this process."""
    emptying = Emptying()
    setattr(TransactionTestCase, "_fixture_teardown", lambda case: emptying(case))  # noqa: B010
