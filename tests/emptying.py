"""Emptying the database after a test that has committed rows.

Django truncates all tables and makes permissions and roles anew, which takes PostgreSQL half a second
while nothing else runs. Few rows are deleted in a hundredth of that, and what every test has may stay.
"""

from __future__ import annotations

from typing import Any

from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import TransactionTestCase

from apps.console.installation_roles import keep_groups

KEPT = ("auth_permission", "django_content_type")
"""What `migrate` makes anew: the models say what stands there."""


class Emptying:
    """`usual` is what Django does; it is done where a test has changed what may stay."""

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
    """In any order: references are looked at when the transaction ends."""
    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    with transaction.atomic(connection.alias), connection.cursor() as cursor:
        for table in tables:
            if table not in KEPT:
                cursor.execute(f"DELETE FROM {connection.ops.quote_name(table)}")


def install() -> None:
    """For all tests of this process."""
    emptying = Emptying()
    setattr(TransactionTestCase, "_fixture_teardown", lambda case: emptying(case))  # noqa: B010
